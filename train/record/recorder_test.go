package record_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"attention/internal/golden"
	"attention/internal/small"
	"attention/layers"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"
	"attention/train/record"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// must checks the error of a call that a test needs but does not test.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// counter is a Resumable source of batches by their number.
type counter struct{ at byte }

// Next returns the next batch.
func (s *counter) Next() (train.Batch, error) {
	s.at++
	return small.Batch(uint64(s.at)), nil
}

// State returns the number of batches drawn.
func (s *counter) State() []byte { return []byte{s.at} }

// SetState sets the number of batches drawn.
func (s *counter) SetState(state []byte) error { s.at = state[0]; return nil }

// recordConfig records the model's attention over five ids, its sum, and a part of a matrix.
func recordConfig(t testing.TB, m *small.Model) record.Config {
	ids := tensor.New(tensor.WithShape(small.ContextLength), tensor.WithBacking([]int{3, 1, 4, 1, 5}))
	return record.Config{
		Inputs: train.Values{"ids": ids},
		Probe: func(b *layers.Build, in layers.Inputs) (record.Probe, error) {
			weights := b.Of(m.Net.Weights(b, in["ids"]))
			return record.Probe{
				Tensors: map[string]*G.Node{"attention": weights},
				Notes:   map[string]string{"ids": "3 1 4 1 5"},
				Nodes:   G.Nodes{b.Of(G.Sum(weights, 2))},
				Numbers: func(values []*tensor.Dense) (map[string][]float64, error) {
					return map[string][]float64{"sum": golden.Floats(t, values[0])}, nil
				},
			}, b.Err()
		},
		Matrices: []record.Matrix{{Param: "tokens.weight", Rows: 4}},
	}
}

// recordTo makes a loop record to a folder until the end of the test.
func recordTo(t *testing.T, l *loop.Loop, folder string, c record.Config) {
	w := must(record.Open(l, folder, c))
	t.Cleanup(func() { w.Close() })
}

func readWatch(t *testing.T, folder string) *record.Recording {
	return must(record.Read(t.Context(), folder, nil))
}

// A record has the norms of every parameter, computed naively here, and the recorded steps have the tensors of their
// time.
func TestRecordRecordsTheMoments(t *testing.T) {
	for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		m := small.New(t, dtype, 4, 0.3)
		const frozen = "positions.weight"
		require.NoError(t, m.Params.Freeze(frozen))
		c, folder := small.Config(), t.TempDir()
		c.EvalEvery, c.ClipNorm = 4, 0.01
		var want []map[string][]float64 // the parameters at the time of each record
		var norms []float64             // of all gradients before each record
		gradNorm := math.NaN()
		c.OnStep = func(s train.StepResult) { gradNorm = s.GradNorm }
		rc := recordConfig(t, m)
		rc.OnRecord = func(r record.Record) { want, norms = append(want, m.Values()), append(norms, gradNorm) }
		l := m.Loop(t, c)
		recordTo(t, l, folder, rc)
		require.NoError(t, l.Run(context.Background(), small.Batches(small.Steps), small.Batches(2)))

		w := readWatch(t, folder)
		steps := []int{0, 4, 8, 10}
		require.Equal(t, steps, w.Steps)
		require.Equal(t, map[string]string{"ids": "3 1 4 1 5"}, w.Notes)
		require.Len(t, w.Records, len(steps))
		distance := func(a, b []float64) (d float64) {
			for i := range a {
				d += (a[i] - b[i]) * (a[i] - b[i])
			}
			return math.Sqrt(d)
		}
		for i, r := range w.Records {
			require.Equal(t, steps[i], r.Step)
			require.Len(t, r.Params, m.Params.Len())
			squares := 0.0
			for _, p := range r.Params {
				is := want[i][p.Name]
				near := func(want float64, got record.Number, what string) {
					require.InDelta(t, want, float64(got), 1e-6*(1+want), "step %d, %s: %s", r.Step, p.Name, what)
				}
				near(distance(is, make([]float64, len(is))), p.Norm, "norm")
				near(distance(is, want[max(i-1, 0)][p.Name]), p.Change, "change")
				near(distance(is, want[0][p.Name]), p.ChangeFromStart, "change from start")
				if i == 0 || p.Name == frozen {
					require.True(t, math.IsNaN(float64(p.Gradient)))
					require.Zero(t, p.Change)
					continue
				}
				require.Positive(t, float64(p.Change), p.Name)
				squares += float64(p.Gradient * p.Gradient)
			}
			if i > 0 {
				require.InEpsilon(t, norms[i], math.Sqrt(squares), 1e-6, "before clipping")
				require.Greater(t, norms[i], c.ClipNorm)
			}
			require.Len(t, r.Numbers["sum"], small.Heads*small.ContextLength)
			require.InDelta(t, 1, float64(r.Numbers["sum"][0]), 1e-6)
			part := golden.Floats(t, w.Matrices["tokens.weight"])[i*4*small.Width:][:4*small.Width]
			for at, v := range part {
				require.Equal(t, float64(float32(want[i]["tokens.weight"][at])), v)
			}
		}
		require.Equal(t, tensor.Shape{len(steps), small.Heads, small.ContextLength, small.ContextLength},
			w.Probe["attention"].Shape())
		weights := w.Probe["attention"].Float32s()
		n := len(weights) / len(steps)
		require.Equal(t, []float32{1, 0, 0, 0, 0}, weights[:small.ContextLength], "causal")
		require.NotEqual(t, weights[:n], weights[n:2*n])
	}
}

// recordedRun trains in a folder, from its checkpoint if there is one, until the step stop, and returns the parameters.
// The batch after the step fail contains NaN.
func recordedRun(t *testing.T, folder, from string, stop int) (*small.Model, error) {
	m := small.New(t, tensor.Float32, 4, 0.3)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := small.Config()
	c.Steps, c.EvalEvery = 20, 3
	c.OnStep = func(s train.StepResult) {
		if s.Step == stop {
			cancel()
		}
	}
	l, source := m.Loop(t, c), &counter{}
	w := must(record.Open(l, folder, recordConfig(t, m)))
	defer w.Close()
	saves := must(checkpoint.Open(filepath.Join(folder, "checkpoints"), checkpoint.Config{Every: 5, Keep: 99}))
	defer saves.Close()
	l.SaveTo(saves)
	if from != "" {
		require.NoError(t, small.Restore(l, filepath.Join(folder, "checkpoints", from), source))
	} else if _, err := saves.Restore(l, source); err != nil {
		return m, err
	}
	return m, l.Run(ctx, source, small.Batches(2))
}

// recordFiles returns the bytes of a run's recorded files.
func recordFiles(t *testing.T, folder string) (files [2]string) {
	for i, name := range []string{record.LinesFile, record.TensorsFile} {
		files[i] = string(must(os.ReadFile(filepath.Join(folder, name))))
	}
	return files
}

// A run that was stopped after any step, or killed and resumed from an older checkpoint,
// records the same bytes as one that never stopped. Recording changes no bit of a run.
func TestRecordResumes(t *testing.T) {
	whole := t.TempDir()
	m := must(recordedRun(t, whole, "", 0))
	want := recordFiles(t, whole)
	require.Equal(t, []int{0, 3, 6, 9, 12, 15, 18, 20}, readWatch(t, whole).Steps)

	alone := small.New(t, tensor.Float32, 4, 0.3)
	c := small.Config()
	c.Steps, c.EvalEvery = 20, 3
	require.NoError(t, alone.Loop(t, c).Run(context.Background(), &counter{}, small.Batches(2)))
	require.Equal(t, small.Bits(alone.Values()), small.Bits(m.Values()), "unwatched")

	for stop := 1; stop < 20; stop++ {
		folder := t.TempDir()
		_, err := recordedRun(t, folder, "", stop)
		require.ErrorIs(t, err, context.Canceled)
		must(recordedRun(t, folder, "", 0))
		require.Equal(t, want, recordFiles(t, folder), "stopped after %d steps", stop)
	}
	for _, row := range []struct {
		reason, checkpoint string
		spoil              func(lines string) string
	}{
		{"killed while a line was written", "step-00000015.safetensors",
			func(lines string) string { return lines[:len(lines)-20] }},
		{"from an older one", "step-00000005.safetensors", func(lines string) string { return lines }},
	} {
		folder := t.TempDir()
		require.NoError(t, os.CopyFS(folder, os.DirFS(whole)))
		path := filepath.Join(folder, record.LinesFile)
		require.NoError(t, os.WriteFile(path, []byte(row.spoil(want[0])), 0o644))
		_, err := record.Read(t.Context(), folder, nil)
		require.NoError(t, err, row.reason)
		must(recordedRun(t, folder, row.checkpoint, 0))
		require.Equal(t, want, recordFiles(t, folder), row.reason)
	}
	_, err := recordedRun(t, whole, "step-00000005.safetensors", 7)
	require.ErrorIs(t, err, context.Canceled)
	w := readWatch(t, whole)
	require.Equal(t, []int{0, 3, 6}, w.Steps, "what came later is gone")
	require.Len(t, w.Records, 3)
}

// If the files or the checkpoint contain no record, a run starts a new recording; the error about damaged files is one
// line.
func TestRecordBeginsAnew(t *testing.T) {
	whole := t.TempDir()
	_, err := recordedRun(t, whole, "", 13)
	require.ErrorIs(t, err, context.Canceled)
	copied := func() string {
		folder := t.TempDir()
		require.NoError(t, os.CopyFS(folder, os.DirFS(whole)))
		return folder
	}
	folder := copied()
	require.NoError(t, os.Remove(filepath.Join(folder, record.LinesFile)))
	require.NoError(t, os.Remove(filepath.Join(folder, record.TensorsFile)))
	must(recordedRun(t, folder, "", 0))
	w := readWatch(t, folder)
	require.Equal(t, []int{15, 18, 20}, w.Steps)
	require.Equal(t, 15, w.Records[0].Step)
	require.Greater(t, w.Records[0].Params[0].ChangeFromStart, w.Records[0].Params[0].Change, "the checkpoint knows")

	older := t.TempDir() // without a watch
	saves := small.OpenFolder(t, filepath.Join(older, "checkpoints"), checkpoint.Config{Every: 5})
	c := small.Config()
	c.EvalEvery = 3
	l := small.New(t, tensor.Float32, 4, 0.3).Loop(t, c)
	l.SaveTo(saves)
	require.NoError(t, l.Run(context.Background(), &counter{}, nil))
	require.NoError(t, saves.Close())
	must(recordedRun(t, older, "", 0))
	w = readWatch(t, older)
	require.Equal(t, []int{10, 12, 15, 18, 20}, w.Steps)
	require.Zero(t, w.Records[0].Params[0].ChangeFromStart)
	require.True(t, math.IsNaN(float64(w.Records[0].Params[0].Gradient)))

	for _, row := range []struct {
		name, content, want string
	}{
		{name: record.LinesFile, content: "{}\n", want: "line 1: params: got none, want at least one"},
		{name: record.LinesFile, content: "", want: "record of step 12"},
		{name: record.TensorsFile, content: "x", want: "damaged"},
	} {
		folder, got := copied(), ""
		path := filepath.Join(folder, row.name)
		old := must(os.ReadFile(path))
		if row.content == "" {
			row.content = string(old[:len(old)-1])
		}
		require.NoError(t, os.WriteFile(path, []byte(row.content), 0o644))
		_, err = recordedRun(t, folder, "", 0)
		require.Error(t, err)
		got = err.Error()
		require.Contains(t, got, path)
		require.Contains(t, got, row.want)
		require.Contains(t, got, "; without this file the run resumes too")
		require.NotContains(t, got, "\n")
		require.NoError(t, os.Remove(path))
		must(recordedRun(t, folder, "", 0))
	}
}

// Without evaluations there are two records. If the loss becomes NaN, the records before it stay.
func TestRecordWithoutEvaluations(t *testing.T) {
	m, folder := small.New(t, tensor.Float32, 4, 0), t.TempDir()
	l := m.Loop(t, small.Config())
	recordTo(t, l, folder, record.Config{})
	require.NoError(t, l.Run(context.Background(), small.Batches(small.Steps), nil))
	w := readWatch(t, folder)
	require.Equal(t, []int{0, small.Steps}, w.Steps)
	require.Len(t, w.Records, 2)
	require.Empty(t, w.Probe)

	c := small.Config()
	c.EvalEvery = 2
	c.Schedule = train.ConstantRate(1e30)
	m, folder = small.New(t, tensor.Float32, 4, 0), t.TempDir()
	l = m.Loop(t, c)
	recordTo(t, l, folder, recordConfig(t, m))
	err := l.Run(context.Background(), small.Batches(small.Steps), nil)
	require.ErrorIs(t, err, train.ErrNotFinite)
	require.Equal(t, 0, readWatch(t, folder).Records[0].Step)
}
