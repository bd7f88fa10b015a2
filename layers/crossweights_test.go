package layers_test

import (
	"testing"

	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The logits are Decode's; the weights of each token are those of one memory, in every
// block, without its padding.
func TestDecodeWithWeights(t *testing.T) {
	for i := range 4 {
		c := tinySeq2Seq()
		c.DecoderLayers, c.Tied, c.PostNorm = 2, i&1 > 0, i&2 > 0
		m, p := newSeq2Seq(t, c)
		b := layers.NewBuild(p, layers.Eval)
		lengths := input(t, b, "lengths", intVector(5, 3))
		memory, err := m.Encode(b, input(t, b, "source", sequences(2, 5)), lengths)
		require.NoError(t, err)
		target := input(t, b, "target", tensor.New(tensor.WithShape(2, 7), tensor.WithBacking([]int{7, 1, 0, 10, 4, 4, 2, 3, 9, 8, 0, 1, 5, 6})))
		want, err := m.Decode(b, target, memory, lengths)
		require.NoError(t, err)
		logits, weights, err := m.DecodeWithWeights(b, target, memory, lengths)
		require.NoError(t, err)
		require.Len(t, weights, 2)
		got := values(t, append(G.Nodes{want, logits}, weights...)...)
		require.InDeltaSlice(t, got[0], got[1], 1e-13)
		require.NotEqual(t, got[2], got[3], "of two blocks")
		for block, w := range weights {
			require.Equal(t, tensor.Shape{2, 3, 7, 5}, w.Shape())
			for row := range 2 * 3 * 7 {
				sum, seen := 0.0, 5-row/(3*7)*2
				for s, v := range got[2+block][row*5:][:5] {
					require.Equal(t, s < seen, v > 0, "row %d, key %d", row, s)
					sum += v
				}
				require.InDelta(t, 1, sum, 1e-14)
			}
		}
	}
	m, p := newSeq2Seq(t, tinySeq2Seq())
	b := layers.NewBuild(p, layers.Eval)
	target := input(t, b, "target", sequences(2, 3))
	_, _, err := m.DecodeWithWeights(b, nil, target, nil)
	require.ErrorContains(t, err, "layers: Seq2Seq: target: got nil, want a node")
	_, _, err = m.DecodeWithWeights(b, target, nil, nil)
	require.ErrorContains(t, err, "layers: transformer.decoder.layers.0: DecoderBlock: memory: got nil, want a node")
}
