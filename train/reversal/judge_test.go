package why

import (
	"testing"

	"attention/graph"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// mirror reverses strings of one length without learning, and strings of all other lengths wrong.
type mirror struct {
	params  *layers.Params
	letters *layers.Embedding
	length  int
}

func newMirror(t *testing.T, length int) *mirror {
	p := layers.NewParams(tensor.Float32, 1)
	e, err := layers.NewEmbedding(p.Scope("letters"), layers.EmbeddingConfig{NumEmbeddings: vocab, EmbeddingDim: vocab})
	require.NoError(t, err)
	one := tensor.New(tensor.Of(tensor.Float32), tensor.WithShape(vocab, vocab))
	for i := range vocab {
		one.Float32s()[i*vocab+i] = 1
	}
	require.NoError(t, p.Set("letters.weight", one))
	return &mirror{p, e, length}
}

func (m *mirror) Params() *layers.Params { return m.params }

func (m *mirror) Forward(b *layers.Build, source, _, _ *G.Node) (*G.Node, error) {
	size := source.Shape()[0]
	at := tensor.New(tensor.Of(tensor.Float32), tensor.WithShape(size, longest, longest+1))
	for row := range size {
		for i := range m.length {
			at.Float32s()[(row*longest+i)*(longest+1)+m.length-1-i] = 1
		}
	}
	return b.Of(graph.MatMul(b.Graph().Constant(at), b.Of(m.letters.Forward(b, source)))), b.Err()
}

func (m *mirror) Loss(*layers.Build, *G.Node, *G.Node, *G.Node, *G.Node) (*G.Node, error) {
	panic("no")
}

// A string is right if all its letters are, whether the model writes alone or after the right letters.
func TestJudge(t *testing.T) {
	const size = 8
	j, err := newJudge(newMirror(t, 12), size)
	require.NoError(t, err)
	exact, err := j.exact(t.Context(), size, 1)
	require.NoError(t, err)
	require.Len(t, exact, longest-shortest+1)
	for i, share := range exact {
		if shortest+i == 12 {
			require.Equal(t, 1.0, share)
		} else {
			require.Less(t, share, 0.5, "length %d", shortest+i)
		}
	}
	b := newStringBatch(size, streamed(2, testStream))
	b.drawEach([]int{12, 11, 13, 12, 40, 5, 12, 6})
	got, err := j.write(t.Context(), b)
	require.NoError(t, err)
	for i, text := range got {
		_, want := b.row(i)
		require.Len(t, text, len(want))
		require.Equal(t, len(want) == 12, text == want, "%s of length %d", text, len(want))
	}
	require.Equal(t, "abXd", markWrong("abxd", "abcd"))
	require.Equal(t, "ab$d", markWrong("ab$d", "abcd"))
}
