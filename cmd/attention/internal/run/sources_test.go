package run

import (
	"errors"
	"io"
	"testing"

	"attention/graph"
	"attention/layers/chapter"
	"attention/train"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// TestSources: every character with a window before it is a target of a validation once,
// or those after every eighth window if windows are long and seen as a whole.
func TestSources(t *testing.T) {
	ids := make([]int, 101)
	for i := range ids {
		ids[i] = i
	}
	c := &Corpus{Training: ids, Validation: ids}
	for _, s := range []struct {
		context  int
		lastOnly bool
		targets  int // of one validation
		first    int
	}{
		{7, false, 100, 1}, {7, true, 94, 7}, {1, true, 100, 1}, {8, true, 93, 8},
		{100, true, 1, 100}, {90, true, 8, 90}, {20, true, 5 + 4*7, 20},
	} {
		var r Config
		r.Batch, r.Order = 3, RandomOrder
		r.Model.Layer = &chapter.LanguageModelConfig{ContextLength: s.context}
		training, validation, err := c.Sources(r, s.lastOnly)
		require.NoError(t, err)
		for range 2 { // the second validation equals the first
			asked := drain(t, validation)
			require.Len(t, asked, s.targets, "%+v", s)
			for target, times := range asked {
				require.Equal(t, 1, times, "%+v: %d", s, target)
				require.GreaterOrEqual(t, target, s.first)
			}
		}
		b, err := training.Next()
		require.NoError(t, err)
		require.Equal(t, map[bool]int{true: 3, false: 3 * s.context}[s.lastOnly], b.Tokens)

		r.Order = sequentialOrder
		training, _, err = c.Sources(r, s.lastOnly)
		require.NoError(t, err)
		for i := range 2 {
			b, err = training.Next()
			require.NoError(t, err)
			require.Equal(t, 3*i*s.context%len(ids), b.Inputs[text.Inputs].Ints()[0])
			require.Equal(t, map[bool]int{true: 3, false: 3 * s.context}[s.lastOnly], b.Tokens)
		}
	}
}

// drain counts the targets up to the end of a source, and checks that each follows
// its input.
func drain(t *testing.T, s train.Source) map[int]int {
	asked := map[int]int{}
	for {
		b, err := s.Next()
		if errors.Is(err, io.EOF) {
			return asked
		}
		require.NoError(t, err)
		inputs, targets := b.Inputs[text.Inputs].Ints(), b.Inputs[text.Targets].Ints()
		for i, target := range targets {
			if target != graph.IgnoreTarget {
				require.Equal(t, inputs[i]+1, target)
				asked[target]++
			}
		}
	}
}
