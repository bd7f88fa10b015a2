package graph_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Errors that only a run can find: ids and targets beyond the vocabulary. The error is the same on both machines, and
// if only the gradient is wanted. The next run, with valid ids, works.
func TestWrongIDsAreErrorsOfTheRun(t *testing.T) {
	embed := func(in G.Nodes) (*G.Node, error) { return graph.Embedding(in[0], in[1]) }
	loss := crossEntropyBy(graph.CrossEntropyConfig{})
	for _, c := range []struct {
		op   func(in G.Nodes) (*G.Node, error)
		rows int // of the table or of the logits
		ids  []float64
		want string
	}{
		{op: embed, rows: 5, ids: []float64{0, 5}, want: "Embedding: ids: got 5 at 1, want 0 <= id < V=5"},
		{op: embed, rows: 5, ids: []float64{-1, 0}, want: "Embedding: ids: got -1 at 0, want 0 <= id < V=5"},
		{op: embed, rows: 5, ids: []float64{0, 1 << 40}, want: "Embedding: ids: got 1099511627776 at 1, want 0 <= id < V=5"},
		{op: loss, rows: 2, ids: []float64{0, 3}, want: "CrossEntropy: targets: got 3 at 1, want 0 <= target < V=3 or -100"},
		{op: loss, rows: 2, ids: []float64{-1, 0},
			want: "CrossEntropy: targets: got -1 at 0, want 0 <= target < V=3 or -100"},
		{op: loss, rows: 2, ids: []float64{-100, -100},
			want: "CrossEntropy: targets: got 2 times -100, want a target that counts"},
	} {
		for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			in := []input{{array: zeros(c.rows, 3)}, ids(c.ids)}
			e := express(t, c.op, in, dt)
			e.differentiate(t, in, zeros(e.out.Shape()...), dt)
			for name, wanted := range map[string]G.Nodes{"value": {e.out}, "gradient": e.grads} {
				m, err := machine.New(wanted...)
				require.NoError(t, err)
				require.NoError(t, G.Let(e.in[1], of(c.ids).value(tensor.Int64)))
				require.EqualError(t, m.RunAll(), "machine: graph: "+c.want, name)
				require.NoError(t, G.Let(e.in[1], of([]float64{1, 0}).value(tensor.Int64)))
				require.NoError(t, m.RunAll(), name)
			}
			require.NoError(t, G.Let(e.in[1], of(c.ids).value(tensor.Int64)))
			require.ErrorContains(t, G.NewTapeMachine(e.g).RunAll(), "graph: "+c.want)
		}
	}
}

func embeddingCases() []opCase {
	return []opCase{
		{name: "embedding", op: func(in G.Nodes) (*G.Node, error) { return graph.Embedding(in[0], in[1]) },
			want: func(in []array) array { return naiveEmbedding(in[0], in[1]) },
			in:   then(shapes(s{7, 5}), ids([]float64{3, 0, 6, 3, 3, 1}, 2, 3))},
		{name: "embedding_one", op: func(in G.Nodes) (*G.Node, error) { return graph.Embedding(in[0], in[1]) },
			want: func(in []array) array { return naiveEmbedding(in[0], in[1]) }, in: then(shapes(s{7, 5}), key(6))},
		{name: "embedding_padding", op: padded(3),
			want: func(in []array) array { return naiveEmbedding(in[0], in[1]) },
			in:   then(shapes(s{7, 5}), ids([]float64{3, 0, 6, 3, 3, 1}, 2, 3))},
	}
}

func padded(paddingIdx int) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) { return graph.PaddedEmbedding(in[0], in[1], paddingIdx) }
}

func TestWrongPaddingIsRefused(t *testing.T) {
	for _, c := range []struct {
		paddingIdx int
		want       string
	}{
		{paddingIdx: -1, want: "got -1, want at least 0"},
		{paddingIdx: 7, want: "got 7, want less than V=7"},
		{paddingIdx: math.MaxInt, want: "got 9223372036854775807, want less than V=7"},
	} {
		g := G.NewGraph()
		weight, id := node(g, "weight", zeros(7, 5), tensor.Float32), node(g, "ids", zeros(3), tensor.Int)
		_, err := graph.PaddedEmbedding(weight, id, c.paddingIdx)
		require.EqualError(t, err, "graph: Embedding: padding_idx: "+c.want)
	}
	_, err := graph.PaddedEmbedding(nil, nil, 0)
	require.EqualError(t, err, "graph: Embedding: weight: got nil, want a node")
}

func naiveEmbedding(weight, ids array) array {
	e := weight.shape[1]
	y := zeros(ids.lead(0, e)...)
	for i, id := range ids.v {
		for j := range e {
			y.v[i*e+j] = weight.at(int(id), j)
		}
	}
	return y
}

// The gradient of a table that also gives the scores, as in GPT-2, is added to the scores' part in place. It has the
// bits of a sum of two matrices, and no third matrix of this size is allocated.
func TestGradientOfATableWithTwoUses(t *testing.T) {
	const rows, width = 101, 50
	for _, padding := range []int{-1, 3} {
		for _, p := range tolerances {
			r := rand.New(rand.NewPCG(5, 6))
			targets := ids([]float64{3, 0, 100, 3, 3, 0}, 2, 3)
			in := append(inputs(normal(r, rows, width), normal(r, 2, 3, width)), targets)
			tied := func(in G.Nodes) (*G.Node, error) {
				x, err := graph.Embedding(in[0], in[2])
				if padding >= 0 {
					x, err = graph.PaddedEmbedding(in[0], in[2], padding)
				}
				require.NoError(t, err)
				x, err = graph.Add(x, in[1])
				require.NoError(t, err)
				x, err = graph.Softmax(x)
				require.NoError(t, err)
				config := graph.LinearCrossEntropyConfig{WithX: true, WithWeight: true}
				return graph.LinearCrossEntropy(x, in[0], in[2], config)
			}
			e := express(t, tied, in, p.dt)
			e.differentiate(t, in, array{nil, []float64{1}}, p.dt)
			ours, tape := e.onOurs(t), e.onTape(t)
			for i := range tape.grads {
				require.Equal(t, bits(tape.grads[i]), bits(ours.grads[i]), "gradient %d", i)
			}
			e = express(t, tied, in, p.dt)
			grads, err := G.Grad(e.out, e.in[0])
			require.NoError(t, err)
			m, err := machine.New(append(grads, e.out)...)
			require.NoError(t, err)
			require.Less(t, m.Memory().Planned, 2*rows*width*int(p.dt.Size()))
			require.NoError(t, m.RunAll())
			if !testenv.Race {
				require.Zero(t, testing.AllocsPerRun(10, func() { require.NoError(t, m.RunAll()) }))
			}
		}
	}
}
