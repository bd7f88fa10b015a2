package layers_test

import (
	"testing"

	"attention/graph"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Texts in one row give the loss and the gradients of texts in separate rows, and none of them sees another.
func TestPackedLoss(t *testing.T) {
	testPacked(t, tinyDecoder())
	testPacked(t, layers.GPTConfig{VocabSize: 13, ContextLength: 11, EmbedDim: 12, NumLayers: 2, NumHeads: 3, Bias: true,
		TieWordEmbeddings: true}.Decoder())
}

func testPacked(t *testing.T, c layers.DecoderConfig) {
	const none, T = graph.IgnoreTarget, 10
	texts := [][]int{{3, 1, 4, 1}, {5, 9}, {2, 6, 5}}
	var ids, targets, segments, positions, alone, next []int
	for i, text := range texts {
		row, following := make([]int, T), make([]int, T)
		for j := range following {
			following[j] = none
		}
		for j, id := range text {
			row[j] = id
			if j+1 < len(text) {
				following[j] = text[j+1]
			}
			ids, segments, positions = append(ids, id), append(segments, i), append(positions, j)
			targets = append(targets, following[j])
		}
		alone, next = append(alone, row...), append(next, following...)
	}
	ids, segments, positions, targets = append(ids, 0), append(segments, 9), append(positions, 0), append(targets, none)

	m, p := newDecoder(t, tensor.Float64, c)
	ints := func(b *layers.Build, name string, v []int) *G.Node {
		return input(t, b, name, of(v, len(v)/T, T))
	}
	b := layers.NewBuild(p, layers.Train)
	packed := b.Of(m.PackedLoss(b, ints(b, "ids", ids), ints(b, "targets", targets),
		layers.Packing{Segments: ints(b, "segments", segments), Positions: ints(b, "positions", positions)}))
	require.NoError(t, b.Err())
	got := lossAndGradients(t, b, packed)

	b = layers.NewBuild(p, layers.Train)
	loss := b.Of(m.Loss(b, ints(b, "ids", alone), ints(b, "targets", next)))
	require.NoError(t, b.Err())
	want := lossAndGradients(t, b, loss)
	require.Len(t, got, len(want))
	for i := range want {
		golden.Close(t, "loss and gradients", want[i], got[i], 1e-13, 1e-11)
	}
}

// lossAndGradients runs a loss and its gradients by all parameters.
func lossAndGradients(t *testing.T, b *layers.Build, loss *G.Node) (all [][]float64) {
	grads := must(G.Grad(loss, b.Learnables()...))
	run(t, append(grads, loss)...)
	all = append(all, []float64{number(loss.Value())})
	for _, n := range grads {
		all = append(all, golden.Floats(t, n.Value()))
	}
	return all
}

func TestPackedLossIsRefused(t *testing.T) {
	m, p := newDecoder(t, tensor.Float32, tinyDecoder())
	b := layers.NewBuild(p, layers.Eval)
	ids := b.InputOf(tensor.Int, "ids", 2, 5)
	_, err := m.PackedLoss(b, ids, ids, layers.Packing{Segments: ids})
	require.EqualError(t, err, "layers: Decoder: positions: got nil, want a node")
	other := b.InputOf(tensor.Int, "other", 2, 4)
	_, err = m.PackedLoss(b, ids, ids, layers.Packing{Segments: other, Positions: ids})
	require.EqualError(t, err, "layers: Decoder: segments: shape (2, 4), want that of the ids, (2, 5)")
	_, err = m.PackedLoss(b, ids, ids, layers.Packing{Segments: ids, Positions: b.Input("floats", 2, 5)})
	require.EqualError(t, err, "layers: Decoder: positions: got float32, want int or int64")
}
