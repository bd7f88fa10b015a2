package train_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"attention/internal/folder"
	"attention/internal/kernel"
	"attention/internal/safetensors"
	"attention/layers"
	"attention/train"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// checkpointRuns are solvers with different states, with and without clipping, a
// schedule and several batches a step; all have dropout.
func checkpointRuns() map[string]train.Config {
	runs := map[string]train.Config{}
	for name, solver := range map[string]train.SolverConfig{
		"sgd": {Name: train.SGD}, "momentum": {Name: train.SGD, Momentum: 0.9},
		"adam": {Name: train.Adam}, "adamw": {WeightDecay: 0.1},
	} {
		c := config()
		c.Solver = solver
		runs[name] = c
		c.ClipNorm, c.Seed, c.Accumulate = 2, -5, 3
		c.Schedule = train.ScheduleConfig{Schedule: train.CosineLR{Peak: 0.03, Floor: 0.003, WarmupSteps: 3, Steps: 8}}
		runs["all."+name] = c
	}
	return runs
}

// textSources returns one source of each kind over one text.
func textSources(t *testing.T) map[string]train.Resumable {
	ids := make([]int, 200)
	for i := range ids {
		ids[i] = i * i % vocabulary
	}
	random, err := text.NewWindows(ids, text.WindowConfig{Batch: batchSize, Context: contextLength}, 9)
	require.NoError(t, err)
	inOrder, err := text.NewCycle(ids, text.WindowConfig{Batch: batchSize, Context: contextLength})
	require.NoError(t, err)
	return map[string]train.Resumable{"random": random, "in order": inOrder}
}

// trail is a run's steps, without their speed, and its evaluations.
type trail []any

func (l *trail) follow(c *train.Config) {
	c.OnStep = func(s train.StepResult) {
		s.TokensPerSecond = 0
		*l = append(*l, s)
	}
	c.OnEval = func(e train.Evaluation) { *l = append(*l, e) }
}

func TestRestoredLoopGivesTheSameBits(t *testing.T) {
	for name, c := range checkpointRuns() {
		for order := range textSources(t) {
			for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
				t.Run(name+"."+order+"."+dtype.String(), func(t *testing.T) {
					path := filepath.Join(t.TempDir(), "checkpoint.safetensors")
					var all, rest trail
					c.EvalEvery = 3
					all.follow(&c)
					follow := c.OnStep
					whole, source := newModel(t, dtype, 7, 0.3), textSources(t)[order]
					var l *train.Loop
					c.OnStep = func(s train.StepResult) {
						if follow(s); s.Step == 5 {
							require.NoError(t, l.Save(path, source))
						}
					}
					l = whole.loop(t, c)
					require.NoError(t, l.Run(context.Background(), source, randomBatches(2)))

					rest.follow(&c)
					twin, twinSource := newModel(t, dtype, 8, 0.3), textSources(t)[order]
					l = twin.loop(t, c)
					require.NoError(t, l.Restore(path, twinSource))
					require.Equal(t, 5, l.Steps())
					require.Equal(t, 3, l.Evaluated())
					require.NoError(t, l.Run(context.Background(), twinSource, randomBatches(2)))
					require.Len(t, all, trainedSteps+4) // evaluations after 3, 6, 9 and 10
					require.Equal(t, all[6:], rest)
					require.Equal(t, bitsOf(whole.values()), bitsOf(twin.values()))
				})
			}
		}
	}
}

// A loop may also restore an older state, which its evaluation graph sees too.
func TestRestoreGoesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint.safetensors")
	m := newModel(t, tensor.Float32, 7, 0.3)
	l := m.loop(t, config())
	require.NoError(t, l.Save(path, nil))
	start := bitsOf(m.values())
	e, err := l.Evaluate(context.Background(), randomBatches(2))
	require.NoError(t, err)
	require.NoError(t, l.Run(context.Background(), randomBatches(trainedSteps), nil))
	trained := bitsOf(m.values())
	require.NoError(t, l.Restore(path, nil))
	require.Equal(t, start, bitsOf(m.values()))
	again, err := l.Evaluate(context.Background(), randomBatches(2))
	require.NoError(t, err)
	require.Equal(t, e, again)
	require.NoError(t, l.Run(context.Background(), randomBatches(trainedSteps), nil))
	require.Equal(t, trained, bitsOf(m.values()))
}

func TestCheckpointFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "checkpoint.safetensors")
	c := checkpointRuns()["all.adamw"]
	c.About = map[string]string{"model": `{"width": 6}`, "sha256": "of the text"}
	m := newModel(t, tensor.Float32, 7, 0.3)
	// A name that would be the solver's, were there no prefixes.
	step, err := m.params.Scope("solver").Param("step", layers.Constant(3), 1)
	require.NoError(t, err)
	l := m.loop(t, c)
	for n := range 2 {
		_, err := l.Step(randomBatch(uint64(n)), randomBatch(7), randomBatch(8))
		require.NoError(t, err)
	}
	source := textSources(t)["in order"]
	_, err = source.Next()
	require.NoError(t, err)
	require.NoError(t, l.Save(path, source))
	f, err := safetensors.ReadFile(path)
	require.NoError(t, err)
	require.Len(t, f.Tensors, 10+9+9+1)
	for name, v := range m.params.All() {
		saved, ok := f.Get("params." + name)
		require.True(t, ok, name)
		require.Equal(t, []int(v.Shape()), saved.Shape)
		require.Equal(t, v.Float32s(), saved.Data)
	}
	steps, _ := f.Get("solver.step")
	require.Equal(t, []int64{2}, steps.Data)
	first, _ := f.Get("solver.exp_avg.output.bias")
	require.Len(t, first.Data, vocabulary)
	require.Equal(t, "attention checkpoint 2", f.Metadata["format"])
	require.Equal(t, "2", f.Metadata["step"])
	require.Equal(t, "0", f.Metadata["evaluated"])
	require.Equal(t, `{"width": 6}`, f.Metadata["about.model"])
	require.Equal(t, "AAAAAAAAAA8=", f.Metadata["source"], "position 15 in the text")
	require.Equal(t, kernel.InstructionSet(), f.Metadata["kernels"])
	require.Equal(t, "tree", f.Metadata["sums"])
	require.Len(t, f.Metadata, 9)
	var saved train.Config
	require.NoError(t, json.Unmarshal([]byte(f.Metadata["config"]), &saved))
	saved.About = c.About
	require.Equal(t, c, saved)

	step.Value().Float32s()[0] = 4
	require.NoError(t, l.Restore(path, nil))
	require.Equal(t, []float32{3}, step.Value().Float32s())

	// Equal loops give equal files, and nothing else is left beside them.
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, l.Save(path, source))
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// A loop knows whether other kernels wrote its checkpoint; files of older programs do not say.
func TestOtherKernels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint.safetensors")
	l := newModel(t, tensor.Float32, 7, 0.3).loop(t, checkpointRuns()["all.adamw"])
	require.Empty(t, l.OtherKernels())
	require.NoError(t, l.Save(path, nil))
	for _, c := range []struct {
		kernels, want string
	}{
		{kernels: kernel.InstructionSet(), want: ""},
		{kernels: "sve", want: "sve"},
		{kernels: "", want: ""},
	} {
		f, err := safetensors.ReadFile(path)
		require.NoError(t, err)
		f.Metadata["kernels"] = c.kernels
		if c.kernels == "" {
			delete(f.Metadata, "kernels")
		}
		require.NoError(t, folder.WriteFile(path, func(w io.Writer) error { return safetensors.WriteSealed(w, f) }))
		require.NoError(t, l.Restore(path, nil))
		require.Equal(t, c.want, l.OtherKernels())
	}
}

func TestReadCheckpoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	saver := newModel(t, tensor.Float64, 7, 0)
	c := config()
	c.About = map[string]string{"model": "small"}
	l := saver.loop(t, c)
	_, err := l.Step(randomBatch(0))
	require.NoError(t, err)
	require.NoError(t, l.Save(path, nil))
	m := newModel(t, tensor.Float64, 8, 0)
	checkpoint, err := train.ReadCheckpoint(path, m.params)
	require.NoError(t, err)
	require.Equal(t, train.Checkpoint{Steps: 1, About: c.About}, checkpoint)
	require.Equal(t, bitsOf(saver.values()), bitsOf(m.values()))

	m = newModel(t, tensor.Float32, 8, 0)
	before := bitsOf(m.values())
	_, err = train.ReadCheckpoint(path, m.params)
	require.ErrorContains(t, err, "train: checkpoint: "+path+": params.")
	require.ErrorContains(t, err, " is float64 (11, 6), want float32 (11, 6)")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	content[len(content)-1] ^= 1
	require.NoError(t, os.WriteFile(path, content, 0o644))
	_, err = train.ReadCheckpoint(path, m.params)
	require.ErrorIs(t, err, train.ErrDamaged)
	require.Equal(t, before, bitsOf(m.values()))
}
