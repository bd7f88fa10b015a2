package layers_test

import (
	"fmt"
	"testing"

	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Observed, the logits are the same; the weights of each token are those of one memory, in
// every block, without its padding.
func TestWeightsOfTheMemory(t *testing.T) {
	for i := range 4 {
		c := tinySeq2Seq()
		c.NumDecoderLayers, c.TieWordEmbeddings, c.PostNorm = 2, i&1 > 0, i&2 > 0
		m, p := newSeq2Seq(t, c)
		decode := func(observed bool) [][]float64 {
			b := layers.NewBuild(p, layers.Eval)
			if observed {
				b.Observe("transformer.decoder.layers.*.multihead_attn")
			}
			lengths := input(t, b, "lengths", intVector(5, 3))
			memory, err := m.Encode(b, input(t, b, "source", sequences(2, 5)), lengths)
			require.NoError(t, err)
			ids := []int{7, 1, 0, 10, 4, 4, 2, 3, 9, 8, 0, 1, 5, 6}
			target := input(t, b, "target", tensor.New(tensor.WithShape(2, 7), tensor.WithBacking(ids)))
			logits, err := m.Decode(b, target, memory, lengths)
			require.NoError(t, err)
			wanted := G.Nodes{logits}
			calls := b.Calls("*.multihead_attn")
			require.Len(t, calls, 2)
			for i, call := range calls {
				require.Equal(t, fmt.Sprintf("transformer.decoder.layers.%d.multihead_attn", i), call.Path)
				w, err := call.Weights()
				require.NoError(t, err)
				require.Equal(t, tensor.Shape{2, 3, 7, 5}, w.Shape())
				wanted = append(wanted, w)
			}
			return values(t, wanted...)
		}
		want, got := decode(false), decode(true)
		require.InDeltaSlice(t, want[0], got[0], 1e-13)
		require.NotEqual(t, got[1], got[2], "of two blocks")
		for block, w := range got[1:] {
			require.InDeltaSlice(t, want[1+block], w, 1e-13, "composed after the fact")
			for row := range 2 * 3 * 7 {
				sum, seen := 0.0, 5-row/(3*7)*2
				for s, v := range w[row*5:][:5] {
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
	_, err := m.Decode(b, nil, target, nil)
	require.ErrorContains(t, err, "layers: Seq2Seq: target: got nil, want a node")
	_, err = m.Decode(b, target, nil, nil)
	require.ErrorContains(t, err, "layers: transformer.decoder.layers.0: DecoderBlock: memory: got nil, want a node")
}
