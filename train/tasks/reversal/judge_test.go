package reversal

import (
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// mirror is a model without training that reverses strings of one length, and strings of all other lengths wrongly.
type mirror struct {
	params  *layers.Params
	letters *layers.Embedding
	length  int
}

func newMirror(t *testing.T, length int) *Model {
	p := layers.NewParams(tensor.Float32, 1)
	e := must(layers.NewEmbedding(p.Scope("letters"), layers.EmbeddingConfig{NumEmbeddings: vocab, EmbeddingDim: vocab}))
	one := tensor.New(tensor.Of(tensor.Float32), tensor.WithShape(vocab, vocab))
	for i := range vocab {
		one.Float32s()[i*vocab+i] = 1
	}
	require.NoError(t, p.Set("letters.weight", one))
	return &Model{&mirror{p, e, length}}
}

func (m *mirror) Params() *layers.Params { return m.params }

func (m *mirror) Forward(b *layers.Build, source, _, _ *G.Node) (*G.Node, error) {
	size := source.Shape()[0]
	at := tensor.New(tensor.Of(tensor.Float32), tensor.WithShape(size, Longest, Longest+1))
	for row := range size {
		for i := range m.length {
			at.Float32s()[(row*Longest+i)*(Longest+1)+m.length-1-i] = 1
		}
	}
	return b.Of(graph.MatMul(b.Graph().Constant(at), b.Of(m.letters.Forward(b, source)))), b.Err()
}

func (m *mirror) Loss(*layers.Build, *G.Node, *G.Node, *G.Node, *G.Node) (*G.Node, error) {
	panic("no")
}

// A string counts as right if all its letters are, whether the model writes from its own letters or from the right
// ones.
func TestExactAndWrite(t *testing.T) {
	const size = 8
	m := newMirror(t, 12)
	exact := must(m.Exact(t.Context(), NewStrings(size, rand.New(rand.NewPCG(1, 1)))))
	require.Len(t, exact, Longest-Shortest+1)
	for i, share := range exact {
		if Shortest+i == 12 {
			require.Equal(t, 1.0, share)
		} else {
			require.Less(t, share, 0.5, "length %d", Shortest+i)
		}
	}
	s := NewStrings(size, rand.New(rand.NewPCG(2, 1)))
	s.Draw([]int{12, 11, 13, 12, 40, 5, 12, 6})
	for i, text := range must(m.Write(t.Context(), s)) {
		_, want := s.Row(i)
		require.Len(t, text, len(want))
		require.Equal(t, len(want) == 12, text == want, "%s of length %d", text, len(want))
	}
}

// The weights are those of the first string: each letter's weights sum to 1, and the other strings of the batch do not
// change them.
func TestWeightsOfTheFirstString(t *testing.T) {
	one, two := NewStrings(1, rand.New(rand.NewPCG(3, 1))), NewStrings(2, rand.New(rand.NewPCG(3, 1)))
	one.Draw([]int{7})
	two.Draw([]int{7, 40})
	for kind, heads := range map[Kind]int{Squeezed: 0, Attending: 1, Transformer: 4} {
		m := must(New(layers.NewParams(tensor.Float32, 1).Scope(""), kind))
		alone := must(m.Weights(t.Context(), one))
		require.Len(t, alone, heads, kind)
		first := must(m.Weights(t.Context(), two))
		require.Len(t, first, heads, kind)
		for h, weights := range alone {
			require.Len(t, weights, 7*8)
			require.InDeltaSlice(t, weights, first[h], 1e-6)
			for row := range 7 {
				sum := 0.0
				for _, w := range weights[row*8:][:8] {
					sum += w
				}
				require.InDelta(t, 1, sum, 1e-6, "%s, head %d, letter %d", kind, h, row)
			}
		}
	}
}
