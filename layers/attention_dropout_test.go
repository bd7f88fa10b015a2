package layers_test

import (
	"testing"

	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Train graphs drop weights and context vectors: each is 0 or x/(1−P), and each head has its own mask. Equal keys give
// equal masks in every graph, and different keys give different masks. Eval graphs drop nothing.
func TestDropoutOfAttention(t *testing.T) {
	const T = 7
	for _, layout := range []layers.Layout{layers.Book, layers.PerHead} {
		run := func(mode layers.Mode, key int64, weights, context float64) [][]float64 {
			p, l := newAttention(t, tensor.Float64, layers.AttentionConfig{EmbedDim: 3, NumHeads: 2, HeadDim: 4, Layout: layout,
				Mask: mask.Causal{}, ContextOnly: true, Dropout: weights, ContextDropout: context})
			b := layers.NewBuild(p, mode)
			in := selfCall(t, golden.Numbers(tensor.Float64, 2, T, 3))(b)
			out, w := b.Of(l.Attend(b, in)), b.Of(l.Weights(b, in))
			require.NoError(t, b.Err())
			require.Equal(t, mode == layers.Train, b.DropoutKey() != nil)
			if mode == layers.Train {
				require.NoError(t, G.Let(b.DropoutKey(), G.NewI64(key)))
			}
			return values(t, out, w)
		}
		whole := run(layers.Eval, 0, 0.5, 0.25)
		weights, context := run(layers.Train, 42, 0.5, 0), run(layers.Train, 42, 0, 0.25)
		droppedFrom(t, whole[1], weights[1], 2)
		require.NotEqual(t, whole[0], weights[0])
		var kept [2][T * T]bool
		for i := range 2 * T * T {
			kept[i/(T*T)][i%(T*T)] = weights[1][i] != 0
		}
		require.NotEqual(t, kept[0], kept[1], "of two heads")
		droppedFrom(t, whole[0], context[0], 1/0.75)
		require.Equal(t, whole[1], context[1])
		both := run(layers.Train, 1, 0.5, 0.25)
		require.Equal(t, both, run(layers.Train, 1, 0.5, 0.25))
		require.NotEqual(t, both, run(layers.Train, 2, 0.5, 0.25))
	}
	p := layers.NewParams(tensor.Float64, 1)
	require.Zero(t, layers.NewBuild(p, layers.Eval).Drop(0.5))
	require.Zero(t, layers.NewBuild(p, layers.Train).Drop(0))
}

// droppedFrom requires that every element is 0 or scaled, and that both occur; zeros must stay 0.
func droppedFrom(t *testing.T, before, after []float64, scale float64) {
	t.Helper()
	zeros, kept := 0, 0
	for i, v := range after {
		switch {
		case before[i] == 0:
			require.Zero(t, v)
		case v == 0:
			zeros++
		default:
			require.InEpsilon(t, before[i]*scale, v, 1e-12)
			kept++
		}
	}
	require.NotZero(t, zeros)
	require.NotZero(t, kept)
}
