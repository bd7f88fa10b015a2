package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"attention/graph"
	"attention/train/text"
)

// Every id is a target in its order, round after round, wherever in a batch or a window the text ends.
func TestCycleRepeatsItsText(t *testing.T) {
	const batch, context, batches = 3, 5, 40
	for n := context + 1; n < 50; n++ {
		c, err := text.NewCycle(countingIDs(n), text.WindowConfig{Batch: batch, Context: context})
		require.NoError(t, err)
		for i := range batches {
			b, err := c.Next()
			require.NoError(t, err)
			require.Equal(t, batch*context, b.Tokens)
			inputs, targets := copies(b)
			for j := range inputs {
				at := i*batch*context + j
				require.Equal(t, at%n, inputs[j])
				require.Equal(t, (at+1)%n, targets[j])
			}
		}
	}
}

func TestCycleLastOnly(t *testing.T) {
	const n, batch, context = 23, 3, 5
	c, err := text.NewCycle(countingIDs(n), text.WindowConfig{Batch: batch, Context: context, LastOnly: true})
	require.NoError(t, err)
	for i := range 20 {
		b, err := c.Next()
		require.NoError(t, err)
		require.Equal(t, batch, b.Tokens)
		_, targets := copies(b)
		for j, target := range targets {
			if j%context == context-1 {
				require.Equal(t, (i*batch*context+j+1)%n, target)
			} else {
				require.Equal(t, graph.IgnoreTarget, target)
			}
		}
	}
}
