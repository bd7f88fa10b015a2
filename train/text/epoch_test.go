package text_test

import (
	"io"
	"testing"

	"attention/graph"
	"attention/train"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// pass reads a source up to io.EOF and returns the inputs and targets at positions that are not ignored.
func pass(t *testing.T, s train.Source, batch, context int) (inputs, targets []int) {
	for {
		b, err := s.Next()
		if err == io.EOF {
			return inputs, targets
		}
		require.NoError(t, err)
		require.Len(t, b.Inputs, 2)
		for _, d := range b.Inputs {
			require.Equal(t, tensor.Int, d.Dtype())
			require.Equal(t, tensor.Shape{batch, context}, d.Shape(), "all batches have one shape")
		}
		tokens := 0
		in, out := copies(b)
		for i, target := range out {
			if target == graph.IgnoreTarget {
				continue
			}
			tokens++
			inputs, targets = append(inputs, in[i]), append(targets, target)
		}
		require.Equal(t, tokens, b.Tokens)
		require.Positive(t, tokens)
	}
}

func TestEpochCountsEveryTargetOnce(t *testing.T) {
	const batch, context = 4, 3
	for n := context + 1; n < 60; n++ {
		ids := countingIDs(n)
		s, err := text.NewEpoch(ids, text.WindowConfig{Batch: batch, Context: context})
		require.NoError(t, err)
		for range 2 { // a second pass equals the first
			inputs, targets := pass(t, s, batch, context)
			require.Equal(t, ids[:n-1], inputs)
			require.Equal(t, ids[1:], targets)
		}
	}
}

func TestEpochLastOnly(t *testing.T) {
	const batch, context = 4, 3
	for n := context + 1; n < 60; n++ {
		s, err := text.NewEpoch(countingIDs(n), text.WindowConfig{Batch: batch, Context: context, LastOnly: true})
		require.NoError(t, err)
		var want []int
		for last := context; last < n; last += context {
			want = append(want, last)
		}
		for range 2 {
			_, targets := pass(t, s, batch, context)
			require.Equal(t, want, targets)
		}
	}
}

// Positions behind the last window have no target.
func TestEpochTail(t *testing.T) {
	const none = graph.IgnoreTarget
	for _, c := range []struct {
		lastOnly bool
		tokens   []int
		inputs   [][]int
		targets  [][]int
	}{
		{lastOnly: false, tokens: []int{6, 4},
			inputs:  [][]int{{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 0, 0}},
			targets: [][]int{{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, none, none}}},
		{lastOnly: true, tokens: []int{2, 1},
			inputs:  [][]int{{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 0, 0}},
			targets: [][]int{{none, none, 3, none, none, 6}, {none, none, 9, none, none, none}}},
	} {
		s, err := text.NewEpoch(countingIDs(11), text.WindowConfig{Batch: 2, Context: 3, LastOnly: c.lastOnly})
		require.NoError(t, err)
		for range 2 {
			for i := range c.inputs {
				b, err := s.Next()
				require.NoError(t, err)
				inputs, targets := copies(b)
				require.Equal(t, c.inputs[i], inputs)
				require.Equal(t, c.targets[i], targets)
				require.Equal(t, c.tokens[i], b.Tokens)
			}
			b, err := s.Next()
			require.Equal(t, io.EOF, err)
			require.Equal(t, train.Batch{}, b)
		}
	}
}

// No value of an earlier batch remains in the memory that the next batch uses.
func TestEpochReusesItsTensors(t *testing.T) {
	s, err := text.NewEpoch(countingIDs(100), text.WindowConfig{Batch: 2, Context: 8})
	require.NoError(t, err)
	a, err := s.Next()
	require.NoError(t, err)
	b, err := s.Next()
	require.NoError(t, err)
	require.Same(t, a.Inputs[text.Inputs], b.Inputs[text.Inputs])
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = s.Next() }))
}
