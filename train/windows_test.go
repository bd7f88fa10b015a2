package train_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"

	"attention/graph"
	"attention/train"
)

func countingIDs(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i
	}
	return ids
}

// copies returns a batch's inputs and targets.
func copies(b train.Batch) (inputs, targets []int) {
	return append([]int{}, b.Inputs[train.Inputs].Ints()...), append([]int{}, b.Inputs[train.Targets].Ints()...)
}

func TestWindowsAreWindows(t *testing.T) {
	const n, batch, context = 23, 3, 5
	w, err := train.NewWindows(countingIDs(n), train.WindowsConfig{Batch: batch, Context: context, Seed: 1})
	require.NoError(t, err)
	starts := make([]int, n)
	const draws = 3000
	for range draws {
		b, err := w.Next()
		require.NoError(t, err)
		require.Equal(t, batch*context, b.Tokens)
		require.Len(t, b.Inputs, 2)
		for _, d := range b.Inputs {
			require.Equal(t, tensor.Int, d.Dtype())
			require.Equal(t, tensor.Shape{batch, context}, d.Shape())
		}
		inputs, targets := copies(b)
		for i, id := range inputs {
			require.Equal(t, inputs[i/context*context]+i%context, id)
			require.Equal(t, id+1, targets[i])
			if i%context == 0 {
				starts[id]++
			}
		}
	}
	// 18 starts leave room for 5 inputs and the last target. 9000 draws give
	// each 500 with a standard deviation of 22: 6 of these allow for the seed.
	for start, count := range starts {
		if start < n-context {
			require.InDelta(t, 500, count, 132, "start %d", start)
		} else {
			require.Zero(t, count, "start %d", start)
		}
	}
}

// With LastOnly the windows are the same, but only their last targets count.
func TestWindowsLastOnly(t *testing.T) {
	const batch, context = 3, 5
	c := train.WindowsConfig{Batch: batch, Context: context, Seed: 1}
	all, err := train.NewWindows(countingIDs(23), c)
	require.NoError(t, err)
	c.LastOnly = true
	last, err := train.NewWindows(countingIDs(23), c)
	require.NoError(t, err)
	for range 50 {
		a, err := all.Next()
		require.NoError(t, err)
		b, err := last.Next()
		require.NoError(t, err)
		require.Equal(t, batch, b.Tokens)
		aInputs, aTargets := copies(a)
		bInputs, bTargets := copies(b)
		require.Equal(t, aInputs, bInputs)
		for i, target := range bTargets {
			if i%context == context-1 {
				require.Equal(t, aTargets[i], target)
			} else {
				require.Equal(t, graph.IgnoreTarget, target)
			}
		}
	}
}

func TestWindowsFollowTheirSeed(t *testing.T) {
	c := train.WindowsConfig{Batch: 4, Context: 6, Seed: 7}
	ids := countingIDs(1000)
	source := func(c train.WindowsConfig) *train.Windows {
		w, err := train.NewWindows(ids, c)
		require.NoError(t, err)
		return w
	}
	draw := func(w *train.Windows) (all []int) {
		for range 5 {
			b, err := w.Next()
			require.NoError(t, err)
			inputs, targets := copies(b)
			all = append(append(all, inputs...), targets...)
		}
		return all
	}
	first, second := source(c), source(c)
	require.Equal(t, draw(first), draw(second))
	other := c
	other.Seed = 8
	require.NotEqual(t, draw(source(c)), draw(source(other)))

	state := first.State()
	want := draw(first)
	require.NotEqual(t, want, draw(source(c)))
	resumed := source(other)
	require.NoError(t, resumed.SetState(state))
	require.Equal(t, want, draw(resumed))
	require.ErrorContains(t, resumed.SetState(state[:7]), "train: windows: state of 7 bytes: ")

	// The stream is part of what a seed promises: these are PCG's numbers for (7, 0).
	b, err := source(c).Next()
	require.NoError(t, err)
	inputs, _ := copies(b)
	require.Equal(t, []int{267, 297, 115, 166}, []int{inputs[0], inputs[6], inputs[12], inputs[18]})
}

func TestWindowsReuseTheirTensors(t *testing.T) {
	w, err := train.NewWindows(countingIDs(100), train.WindowsConfig{Batch: 2, Context: 8})
	require.NoError(t, err)
	a, _ := w.Next()
	b, _ := w.Next()
	require.Same(t, a.Inputs[train.Inputs], b.Inputs[train.Inputs])
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = w.Next() }), 1.0)
}

func TestWindowSourcesRefuse(t *testing.T) {
	for _, c := range []struct {
		ids, batch, context int
		want                string
	}{
		{10, 0, 3, "train: batch size: got 0 windows, want a number >= 1"},
		{10, 1, 0, "train: context: got 0, want a number >= 1"},
		{3, 1, 3, "train: ids: got 3, want more than the context of 3"},
		{0, 1, 3, "train: ids: got 0, want more than the context of 3"},
	} {
		_, err := train.NewWindows(countingIDs(c.ids), train.WindowsConfig{Batch: c.batch, Context: c.context})
		require.EqualError(t, err, c.want)
		_, err = train.NewSequential(countingIDs(c.ids), train.SequentialConfig{Batch: c.batch, Context: c.context})
		require.EqualError(t, err, c.want)
	}
	smallest, err := train.NewWindows(countingIDs(4), train.WindowsConfig{Batch: 1, Context: 3})
	require.NoError(t, err)
	b, err := smallest.Next()
	require.NoError(t, err)
	inputs, targets := copies(b)
	require.Equal(t, []int{0, 1, 2}, inputs)
	require.Equal(t, []int{1, 2, 3}, targets)
}
