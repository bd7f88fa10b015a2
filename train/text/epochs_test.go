package text_test

import (
	"slices"
	"testing"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// firsts returns the first inputs of the windows of n batches.
func firsts(t *testing.T, e *text.Epochs, n, context int) (all []int) {
	for range n {
		b, err := e.Next()
		require.NoError(t, err)
		inputs, targets := copies(b)
		require.Equal(t, len(inputs), b.Tokens)
		for i, x := range inputs {
			require.Equal(t, x+1, targets[i])
			if i%context == 0 {
				all = append(all, x)
			} else {
				require.Equal(t, inputs[i-1]+1, x)
			}
		}
	}
	return all
}

// Every epoch has each whole window once, except windows at the end that do not fill a batch.
func TestEpochs(t *testing.T) {
	const context, batch = 3, 2
	for _, row := range []struct {
		ids, batches int
		want         []int
	}{
		{ids: 7, batches: 1, want: []int{0, 3}},
		{ids: 12, batches: 1, want: []int{0, 3}},
		{ids: 13, batches: 2, want: []int{0, 3, 6, 9}},
		{ids: 16, batches: 2, want: []int{0, 3, 6, 9}},
		{ids: 18, batches: 2, want: []int{0, 3, 6, 9}},
		{ids: 19, batches: 3, want: []int{0, 3, 6, 9, 12, 15}},
	} {
		e, err := text.NewEpochs(countingIDs(row.ids), text.WindowConfig{Batch: batch, Context: context}, text.EpochsConfig{})
		require.NoError(t, err)
		require.Equal(t, row.batches, e.Batches())
		require.Equal(t, slices.Concat(row.want, row.want), firsts(t, e, 2*row.batches, context))
	}
}

// A shuffled epoch has each window once, in its own order, and resumes from its state.
func TestEpochsShuffle(t *testing.T) {
	const context, batch, windows = 3, 2, 10
	w := text.WindowConfig{Batch: batch, Context: context}
	c := text.EpochsConfig{Shuffle: true, Seed: 7}
	e, err := text.NewEpochs(countingIDs(windows*context+1), w, c)
	require.NoError(t, err)
	first, second := firsts(t, e, windows/batch, context), firsts(t, e, windows/batch, context)
	require.NotEqual(t, first, second)
	for _, epoch := range [][]int{first, second} {
		slices.Sort(epoch)
		require.Equal(t, []int{0, 3, 6, 9, 12, 15, 18, 21, 24, 27}, epoch)
	}
	for range 3*windows/batch + 2 {
		state := e.State()
		again, err := text.NewEpochs(countingIDs(windows*context+1), w, c)
		require.NoError(t, err)
		require.NoError(t, again.SetState(state))
		require.Equal(t, firsts(t, e, 7, context), firsts(t, again, 7, context))
	}
	c.Seed++
	other, err := text.NewEpochs(countingIDs(windows*context+1), w, c)
	require.NoError(t, err)
	fresh, err := text.NewEpochs(countingIDs(windows*context+1), w, text.EpochsConfig{Shuffle: true, Seed: 7})
	require.NoError(t, err)
	require.NotEqual(t, firsts(t, fresh, 5, context), firsts(t, other, 5, context))
}

func TestEpochsRefuse(t *testing.T) {
	w := text.WindowConfig{Batch: 3, Context: 2}
	_, err := text.NewEpochs(countingIDs(6), w, text.EpochsConfig{})
	require.EqualError(t, err, "text: epochs: got 2 windows of 2, want at least the 3 of a batch")
	_, err = text.NewEpochs(countingIDs(6), text.WindowConfig{Batch: 1}, text.EpochsConfig{})
	require.Error(t, err)
	e, err := text.NewEpochs(countingIDs(7), w, text.EpochsConfig{})
	require.NoError(t, err)
	require.EqualError(t, e.SetState(make([]byte, 8)), "text: state of a source: got 8 bytes, want 16")
	state := make([]byte, 16)
	state[7] = 4
	require.ErrorContains(t, e.SetState(state), "position 4, want one below 4")
}
