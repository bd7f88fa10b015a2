package checkpoint_test

import (
	"context"
	"path/filepath"
	"testing"

	"attention/internal/safetensors"
	"attention/internal/small"
	"attention/train/checkpoint"
	"attention/train/loop"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// A checkpoint holds the best parameters besides the last ones, if the config requests this; a loop that did not keep
// them before starts to keep them.
func TestBestInACheckpoint(t *testing.T) {
	dir := t.TempDir()
	numbers := []float64{4, 1, 3, 2}
	save := func(c loop.Config) (path string, f *safetensors.File) {
		c.Steps = 3
		l, _ := small.Walker(t, c)
		require.NoError(t, l.Run(context.Background(), &small.Walk{Numbers: numbers}, small.AtZero()))
		path = filepath.Join(dir, "checkpoint")
		require.NoError(t, checkpoint.Save(l, path, &small.Walk{At: 3}))
		f = must(safetensors.ReadFile(path))
		return path, f
	}
	names := func(f *safetensors.File) (all []string) {
		for _, tensor := range f.Tensors {
			all = append(all, tensor.Name)
		}
		return all
	}
	plain, f := save(loop.Config{})
	require.Equal(t, []string{"params.w"}, names(f))
	require.NotContains(t, f.Metadata["state"], "patience")
	require.NotContains(t, f.Metadata["state"], "best")
	resume := func(path string, c loop.Config) (best, w float64) {
		c.Steps = 4
		l, p := small.Walker(t, c)
		source := &small.Walk{Numbers: numbers}
		require.NoError(t, small.Restore(l, path, source))
		require.NoError(t, l.Run(context.Background(), source, small.AtZero()))
		w = small.Place(p)
		if c.KeepBest {
			require.NoError(t, l.UseBest())
		}
		return small.Place(p), w
	}
	best, last := resume(plain, loop.Config{KeepBest: true})
	require.Equal(t, []float64{2, 2}, []float64{best, last}, "it knows none of before")

	patient, f := save(loop.Config{Patience: 9})
	require.Equal(t, []string{"params.w"}, names(f))
	require.Equal(t, `{"step":2,"loss":1,"tokens":1,"from":1,"stale":1}`, small.State(f, "best"))
	best, _ = resume(patient, loop.Config{KeepBest: true})
	require.Equal(t, 2.0, best)

	kept, f := save(loop.Config{KeepBest: true})
	require.Equal(t, []string{"params.w", "best.w"}, names(f))
	w, _ := f.Get("best.w")
	require.Equal(t, []float64{1}, w.Data)
	best, last = resume(kept, loop.Config{KeepBest: true})
	require.Equal(t, []float64{1, 2}, []float64{best, last})
	best, _ = resume(kept, loop.Config{})
	require.Equal(t, 2.0, best, "it may be forgotten")

	_, p := small.Walker(t, loop.Config{Steps: 1})
	must(checkpoint.Read(kept, p))
	require.Equal(t, 3.0, small.Place(p), "the last ones")

	l, _ := small.Walker(t, loop.Config{Steps: 4, KeepBest: true})
	for text, want := range map[string]string{
		`{"step":-1}`: "best.step: got -1, want at least 0", `{"step":1,"stale":-1}`: "best.stale: got -1, want at least 0",
		`{"step":"x"}`: `best.step: got "x", want a whole number`} {
		small.SetState(f, "best", text)
		small.WriteSealed(t, kept, f)
		require.ErrorContains(t, small.Restore(l, kept, nil), want)
	}
	small.SetState(f, "best", `{"step":1}`)
	f.Tensors[1].Shape = []int{1, 1}
	small.WriteSealed(t, kept, f)
	require.ErrorContains(t, small.Restore(l, kept, nil), "best.w is float64 (1, 1), want float64 (1)")
}

// A checkpoint with all possible parts is read again: for each parameter Adam's two numbers and the best value.
func TestBestOfALargerModel(t *testing.T) {
	c := small.Config()
	c.EvalEvery, c.KeepBest = 3, true
	path := filepath.Join(t.TempDir(), "checkpoint")
	m := small.New(t, tensor.Float64, 7, 0)
	l := m.Loop(t, c)
	require.NoError(t, l.Run(context.Background(), small.Batches(small.Steps), small.Batches(2)))
	require.NoError(t, checkpoint.Save(l, path, nil))
	last := small.Bits(m.Values())
	require.NoError(t, l.UseBest())
	best := small.Bits(m.Values())
	require.NotEqual(t, last, best, "the run is of no use for this test")

	twin := small.New(t, tensor.Float64, 8, 0)
	l = twin.Loop(t, c)
	require.NoError(t, small.Restore(l, path, nil))
	require.Equal(t, last, small.Bits(twin.Values()))
	require.NoError(t, l.UseBest())
	require.Equal(t, best, small.Bits(twin.Values()))
	must(checkpoint.Read(path, twin.Params))
	require.Equal(t, last, small.Bits(twin.Values()))
}
