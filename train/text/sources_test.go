package text_test

import (
	"errors"
	"io"
	"testing"

	"attention/graph"
	"attention/train"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// TestSources: in a validation, every character after the first window is a target once. If windows are long and only
// the token after a window is a target, those after every eighth window are.
func TestSources(t *testing.T) {
	ids := make([]int, 101)
	for i := range ids {
		ids[i] = i
	}
	c := &text.Corpus{Training: ids, Validation: ids}
	for _, s := range []struct {
		reason  string
		whole   bool // whether only the token after a window is a target
		context int
		targets int // of one validation
		first   int
	}{
		{reason: "every target counts", context: 7, targets: 100, first: 1},
		{reason: "a pass for each shift", whole: true, context: 7, targets: 94, first: 7},
		{reason: "windows of one token", whole: true, context: 1, targets: 100, first: 1},
		{reason: "as many passes as there may be", whole: true, context: 8, targets: 93, first: 8},
		{reason: "one window", whole: true, context: 100, targets: 1, first: 100},
		{reason: "one window a pass", whole: true, context: 90, targets: 8, first: 90},
		{reason: "fewer passes than targets of a window", whole: true, context: 20, targets: 5 + 4*7, first: 20},
	} {
		of := text.SourcesConfig{Windows: text.WindowConfig{Batch: 3, Context: s.context, LastOnly: s.whole}}
		tokens := 3 // of a batch
		if !s.whole {
			tokens *= s.context
		}
		training, validation, _, err := c.Sources(of)
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

		of.Order = text.SequentialOrder
		training, _, _, err = c.Sources(of)
		require.NoError(t, err)
		for i := range 2 {
			b, err = training.Next()
			require.NoError(t, err)
			require.Equal(t, 3*i*s.context%len(ids), b.Inputs[text.Inputs].Ints()[0])
			require.Equal(t, tokens, b.Tokens)
		}
	}
}

// drain counts the targets up to the end of a source, and checks that each one follows its input.
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
