package train_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"attention/internal/safetensors"
	"attention/train"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// The best parameters are in a checkpoint beside the last ones, if they are asked for; a
// loop that did not keep them so far begins to.
func TestBestInACheckpoint(t *testing.T) {
	dir := t.TempDir()
	numbers := []float64{4, 1, 3, 2}
	save := func(c train.Config) (path string, f *safetensors.File) {
		c.Steps = 3
		l, _ := walker(t, c)
		require.NoError(t, l.Run(context.Background(), &walk{numbers: numbers}, zero()))
		path = filepath.Join(dir, "checkpoint")
		require.NoError(t, l.Save(path, &walk{at: 3}))
		f, err := safetensors.ReadFile(path)
		require.NoError(t, err)
		return path, f
	}
	names := func(f *safetensors.File) (all []string) {
		for _, tensor := range f.Tensors {
			all = append(all, tensor.Name)
		}
		return all
	}
	plain, f := save(train.Config{})
	require.Equal(t, []string{"params.w"}, names(f))
	require.NotContains(t, f.Metadata, "best")
	require.NotContains(t, f.Metadata["config"], "patience")
	require.NotContains(t, f.Metadata["config"], "best")
	resume := func(path string, c train.Config) (best, w float64) {
		c.Steps = 4
		l, p := walker(t, c)
		source := &walk{numbers: numbers}
		require.NoError(t, l.Restore(path, source))
		require.NoError(t, l.Run(context.Background(), source, zero()))
		w = value(p)
		if c.KeepBest {
			require.NoError(t, l.UseBest())
		}
		return value(p), w
	}
	best, last := resume(plain, train.Config{KeepBest: true})
	require.Equal(t, []float64{2, 2}, []float64{best, last}, "it knows none of before")

	patient, f := save(train.Config{Patience: 9})
	require.Equal(t, []string{"params.w"}, names(f))
	require.Equal(t, `{"step":2,"loss":1,"tokens":1,"from":1,"stale":1}`, f.Metadata["best"])
	best, _ = resume(patient, train.Config{KeepBest: true})
	require.Equal(t, 2.0, best)

	kept, f := save(train.Config{KeepBest: true})
	require.Equal(t, []string{"params.w", "best.w"}, names(f))
	w, _ := f.Get("best.w")
	require.Equal(t, []float64{1}, w.Data)
	best, last = resume(kept, train.Config{KeepBest: true})
	require.Equal(t, []float64{1, 2}, []float64{best, last})
	best, _ = resume(kept, train.Config{})
	require.Equal(t, 2.0, best, "it may be forgotten")

	_, p := walker(t, train.Config{Steps: 1})
	_, err := train.ReadCheckpoint(kept, p)
	require.NoError(t, err)
	require.Equal(t, 3.0, value(p), "the last ones")

	l, _ := walker(t, train.Config{Steps: 4, KeepBest: true})
	for text, want := range map[string]string{
		`{"step":0}`: "best: step: got 0, want at least 1", `{"step":1,"stale":-1}`: "best: stale: got -1, want at least 0",
		`{"step":"x"}`: `best: step: got "x", want a whole number`, `{`: "best: not JSON: "} {
		f.Metadata["best"] = text
		writeSealed(t, kept, f)
		require.ErrorContains(t, l.Restore(kept, nil), want)
	}
	f.Metadata["best"] = `{"step":1}`
	f.Tensors[1].Shape = []int{1, 1}
	writeSealed(t, kept, f)
	require.ErrorContains(t, l.Restore(kept, nil), "best.w is float64 (1, 1), want float64 (1)")
}

func writeSealed(t *testing.T, path string, f *safetensors.File) {
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, safetensors.WriteSealed(file, f))
	require.NoError(t, file.Close())
}

// A checkpoint with all that there can be is read again: two numbers of Adam's and the best one
// beside each parameter.
func TestBestOfALargerModel(t *testing.T) {
	c := config()
	c.EvalEvery, c.KeepBest = 3, true
	path := filepath.Join(t.TempDir(), "checkpoint")
	m := newModel(t, tensor.Float64, 7, 0)
	l := m.loop(t, c)
	require.NoError(t, l.Run(context.Background(), randomBatches(trainedSteps), randomBatches(2)))
	require.NoError(t, l.Save(path, nil))
	last := bitsOf(m.values())
	require.NoError(t, l.UseBest())
	best := bitsOf(m.values())
	require.NotEqual(t, last, best, "the run is of no use for this test")

	twin := newModel(t, tensor.Float64, 8, 0)
	l = twin.loop(t, c)
	require.NoError(t, l.Restore(path, nil))
	require.Equal(t, last, bitsOf(twin.values()))
	require.NoError(t, l.UseBest())
	require.Equal(t, best, bitsOf(twin.values()))
	_, err := train.ReadCheckpoint(path, twin.params)
	require.NoError(t, err)
	require.Equal(t, last, bitsOf(twin.values()))
}
