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
		reason  string
		layer   string
		context int
		targets int // of one validation
		first   int
	}{
		{reason: "every target counts", layer: "causal", context: 7, targets: 100, first: 1},
		{reason: "a pass for each shift", layer: "simple", context: 7, targets: 94, first: 7},
		{reason: "windows of one token", layer: "simple", context: 1, targets: 100, first: 1},
		{reason: "as many passes as there may be", layer: "simple", context: 8, targets: 93, first: 8},
		{reason: "one window", layer: "simple", context: 100, targets: 1, first: 100},
		{reason: "one window a pass", layer: "simple", context: 90, targets: 8, first: 90},
		{reason: "fewer passes than targets of a window", layer: "simple", context: 20, targets: 5 + 4*7, first: 20},
	} {
		var r Config
		r.Batch, r.Order = 3, RandomOrder
		r.Model.Layer = &chapter.LanguageModelConfig{ContextLength: s.context, Attention: chapter.Config{Layer: s.layer}}
		tokens := 3 // of a batch
		if s.layer == "causal" {
			tokens *= s.context
		}
		training, validation, _, err := c.Sources(r)
		require.NoError(t, err)
		for range 2 { // the second validation equals the first
			asked := drain(t, validation)
			require.Len(t, asked, s.targets, s.reason)
			for target, times := range asked {
				require.Equal(t, 1, times, "%s: %d", s.reason, target)
				require.GreaterOrEqual(t, target, s.first, s.reason)
			}
		}
		b, err := training.Next()
		require.NoError(t, err)
		require.Equal(t, tokens, b.Tokens)

		r.Order = sequentialOrder
		training, _, _, err = c.Sources(r)
		require.NoError(t, err)
		for i := range 2 {
			b, err = training.Next()
			require.NoError(t, err)
			require.Equal(t, 3*i*s.context%len(ids), b.Inputs[text.Inputs].Ints()[0])
			require.Equal(t, tokens, b.Tokens)
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
