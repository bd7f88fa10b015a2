package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"

	"attention/graph"
	"attention/train/text"
)

func TestWindowsAreWindows(t *testing.T) {
	const n, batch, context = 23, 3, 5
	w, err := text.NewWindows(countingIDs(n), text.WindowConfig{Batch: batch, Context: context}, 1)
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
	// 5 inputs and the last target fit at 18 starts. In 9000 draws each start is drawn 500 times, with a standard
	// deviation of 22; the tolerance is 6 standard deviations.
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
	c := text.WindowConfig{Batch: batch, Context: context}
	all, err := text.NewWindows(countingIDs(23), c, 1)
	require.NoError(t, err)
	c.LastOnly = true
	last, err := text.NewWindows(countingIDs(23), c, 1)
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
	ids := countingIDs(1000)
	source := func(seed uint64) *text.Windows {
		w, err := text.NewWindows(ids, text.WindowConfig{Batch: 4, Context: 6}, seed)
		require.NoError(t, err)
		return w
	}
	draw := func(w *text.Windows) (all []int) {
		for range 5 {
			b, err := w.Next()
			require.NoError(t, err)
			inputs, targets := copies(b)
			all = append(append(all, inputs...), targets...)
		}
		return all
	}
	first, second := source(7), source(7)
	require.Equal(t, draw(first), draw(second))
	require.NotEqual(t, draw(source(7)), draw(source(8)))

	state := first.State()
	want := draw(first)
	require.NotEqual(t, want, draw(source(7)))
	resumed := source(8)
	require.NoError(t, resumed.SetState(state))
	require.Equal(t, want, draw(resumed))
	require.ErrorContains(t, resumed.SetState(state[:7]), "text: windows: state of 7 bytes: ")

	// Equal seeds must always give the same random numbers: these are PCG's for (7, 0).
	b, err := source(7).Next()
	require.NoError(t, err)
	inputs, _ := copies(b)
	require.Equal(t, []int{267, 297, 115, 166}, []int{inputs[0], inputs[6], inputs[12], inputs[18]})
}

func TestWindowsReuseTheirTensors(t *testing.T) {
	w, err := text.NewWindows(countingIDs(100), text.WindowConfig{Batch: 2, Context: 8}, 0)
	require.NoError(t, err)
	a, _ := w.Next()
	b, _ := w.Next()
	require.Same(t, a.Inputs[text.Inputs], b.Inputs[text.Inputs])
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = w.Next() }), 1.0)
}
