package train_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"

	"attention/internal/safetensors"
	"attention/layers"
	"attention/train"
)

// checkpointRuns are solvers with different states, one with clipping and a
// schedule, all with dropout.
func checkpointRuns() map[string]train.Config {
	runs := map[string]train.Config{}
	for name, solver := range map[string]train.SolverConfig{
		"sgd": {Name: train.SGD}, "momentum": {Name: train.SGD, Momentum: 0.9}, "adam": {Name: train.Adam}, "adamw": {WeightDecay: 0.1},
	} {
		c := config()
		c.Solver = solver
		runs[name] = c
	}
	c := runs["adamw"]
	c.ClipNorm, c.Seed, c.EvalEvery = 2, -5, 3
	c.Schedule = train.ScheduleConfig{Cosine: train.Cosine{Peak: 0.03, Floor: 0.003, WarmupSteps: 3, Steps: 8}}
	runs["all"] = c
	return runs
}

func textWindows(t *testing.T) *train.Windows {
	ids := make([]int, 200)
	for i := range ids {
		ids[i] = i * i % vocabulary
	}
	w, err := train.NewWindows(ids, train.WindowsConfig{Batch: batchSize, Context: contextLength, Seed: 9})
	require.NoError(t, err)
	return w
}

func TestRestoredLoopGivesTheSameBits(t *testing.T) {
	for name, c := range checkpointRuns() {
		for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			t.Run(name+"."+dtype.String(), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "checkpoint.safetensors")
				whole, source := newModel(t, dtype, 7, 0.3), textWindows(t)
				var sourceState []byte
				var l *train.Loop
				var losses []float64
				c.OnStep = func(s train.Step) {
					if losses = append(losses, s.Loss, s.GradNorm, s.LearningRate); s.N == 4 {
						require.NoError(t, l.Save(path))
						sourceState = source.State()
					}
				}
				l = whole.loop(t, c)
				require.NoError(t, l.Run(context.Background(), source, nil))

				var rest []float64
				c.OnStep = func(s train.Step) { rest = append(rest, s.Loss, s.GradNorm, s.LearningRate) }
				twin, twinSource := newModel(t, dtype, 8, 0.3), textWindows(t)
				require.NoError(t, twinSource.SetState(sourceState))
				l = twin.loop(t, c)
				require.NoError(t, l.Restore(path))
				require.Equal(t, 5, l.Steps())
				require.NoError(t, l.Run(context.Background(), twinSource, nil))
				require.Equal(t, losses[5*3:], rest)
				require.Equal(t, bitsOf(whole.values()), bitsOf(twin.values()))
			})
		}
	}
}

// A loop may also go back, and a loop that has evaluated before sees what it
// restored.
func TestRestoreGoesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint.safetensors")
	m := newModel(t, tensor.Float32, 7, 0.3)
	l := m.loop(t, config())
	require.NoError(t, l.Save(path))
	start := bitsOf(m.values())
	e, err := l.Evaluate(context.Background(), randomBatches(2))
	require.NoError(t, err)
	require.NoError(t, l.Run(context.Background(), randomBatches(trainedSteps), nil))
	trained := bitsOf(m.values())
	require.NoError(t, l.Restore(path))
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
	c := checkpointRuns()["all"]
	m := newModel(t, tensor.Float32, 7, 0.3)
	// A name that would be the solver's, were there no prefixes.
	step, err := m.params.Scope("solver").Param("step", layers.Constant(3), 1)
	require.NoError(t, err)
	l := m.loop(t, c)
	for n := range 2 {
		_, err := l.Step(randomBatch(uint64(n)))
		require.NoError(t, err)
	}
	require.NoError(t, l.Save(path))
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
	require.Equal(t, "attention checkpoint 1", f.Metadata["format"])
	require.Equal(t, "2", f.Metadata["step"])
	var saved train.Config
	require.NoError(t, json.Unmarshal([]byte(f.Metadata["config"]), &saved))
	require.Equal(t, c, saved)

	step.Value().Float32s()[0] = 4
	require.NoError(t, l.Restore(path))
	require.Equal(t, []float32{3}, step.Value().Float32s())

	// Equal loops give equal files, and nothing else is left beside them.
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, l.Save(path))
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

func TestRestoreRefusesWithoutChangingAnything(t *testing.T) {
	dir := t.TempDir()
	path, bad, state := filepath.Join(dir, "good"), filepath.Join(dir, "bad"), filepath.Join(dir, "state")
	saver := newModel(t, tensor.Float64, 7, 0).loop(t, config())
	_, err := saver.Step(randomBatch(0))
	require.NoError(t, err)
	require.NoError(t, saver.Save(path))

	m := newModel(t, tensor.Float64, 8, 0)
	l := m.loop(t, config())
	for n := range 3 {
		_, err := l.Step(randomBatch(uint64(n)))
		require.NoError(t, err)
	}
	// What a loop saves is all that it is.
	snapshot := func() []byte {
		require.NoError(t, l.Save(state))
		bytes, err := os.ReadFile(state)
		require.NoError(t, err)
		return bytes
	}
	before := snapshot()

	tensorAt := func(f *safetensors.File, name string) *safetensors.Tensor {
		for i := range f.Tensors {
			if f.Tensors[i].Name == name {
				return &f.Tensors[i]
			}
		}
		t.Fatalf("no tensor %s", name)
		return nil
	}
	for want, spoil := range map[string]func(f *safetensors.File){
		`format: got "", want "attention checkpoint 1"`: func(f *safetensors.File) { f.Metadata = nil },
		`format: got "attention checkpoint 2", want "attention checkpoint 1"`: func(f *safetensors.File) {
			f.Metadata["format"] = "attention checkpoint 2"
		},
		`step: got "", want a whole number >= 0`:    func(f *safetensors.File) { delete(f.Metadata, "step") },
		`step: got "-1", want a whole number >= 0`:  func(f *safetensors.File) { f.Metadata["step"] = "-1" },
		`step: got "1.5", want a whole number >= 0`: func(f *safetensors.File) { f.Metadata["step"] = "1.5" },
		`config: unexpected end of JSON input`:      func(f *safetensors.File) { f.Metadata["config"] = "{" },
		"solver: got adam(beta1=0.9 beta2=0.999 eps=1e-08 weight_decay=0 of all), want the loop's adamw(beta1=0.9 beta2=0.999 eps=1e-08 weight_decay=0 of all)": func(f *safetensors.File) {
			f.Metadata["config"] = `{"solver":{"name":"adam"}}`
		},
		"missing params.output.bias, solver.exp_avg.tokens.weight; unknown params.output.gain, solver.exp_avg.token.weight; " +
			"params.tokens.weight is float64 (6, 11), want float64 (11, 6), params.attention.out_proj.bias is float64 (14, 1), want float64 (14), " +
			"params.output.weight is float32 (11, 14), want float64 (11, 14), solver.step is int32 (1), want int64 (1)": func(f *safetensors.File) {
			tensorAt(f, "params.output.bias").Name = "params.output.gain"
			tensorAt(f, "solver.exp_avg.tokens.weight").Name = "solver.exp_avg.token.weight"
			tensorAt(f, "params.tokens.weight").Shape = []int{6, 11}
			tensorAt(f, "params.attention.out_proj.bias").Shape = []int{14, 1}
			tensorAt(f, "params.output.weight").Data = make([]float32, 11*14)
			tensorAt(f, "solver.step").Data = []int32{1}
		},
		"params.output.bias is float64 (0), want float64 (11)": func(f *safetensors.File) {
			p := tensorAt(f, "params.output.bias")
			p.Shape, p.Data = []int{0}, []float64{}
		},
		"train: solver state: step: got -1, want a number >= 0": func(f *safetensors.File) {
			tensorAt(f, "solver.step").Data = []int64{-1}
		},
	} {
		f, err := safetensors.ReadFile(path)
		require.NoError(t, err)
		spoil(f)
		require.NoError(t, safetensors.WriteFile(bad, f))
		require.EqualError(t, l.Restore(bad), "train: checkpoint: "+bad+": "+want)
		require.Equal(t, before, snapshot(), want)
	}
	err = l.Restore(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "train: checkpoint: ")
	require.NoError(t, os.WriteFile(bad, []byte("no checkpoint"), 0o644))
	require.ErrorContains(t, l.Restore(bad), "train: checkpoint: safetensors: "+bad+": ")
	require.Equal(t, before, snapshot())

	require.NoError(t, l.Restore(path))
	require.Equal(t, 1, l.Steps())
	require.ErrorContains(t, l.Save(filepath.Join(dir, "no", "such", "directory")), "train: checkpoint: safetensors: ")
}
