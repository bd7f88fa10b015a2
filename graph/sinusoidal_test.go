package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func naiveSinusoidal(in []array) array {
	at := positionsOf(in)
	y := array{in[0].shape, append([]float64{}, in[0].v...)}
	for rows, row := y.rows(), 0; row < rows.shape[0]; row++ {
		for j := range rows.shape[1] {
			angle := at(row) / math.Pow(10000, float64(j-j%2)/float64(rows.shape[1]))
			if j%2 == 0 {
				y.v[rows.i(row, j)] += math.Sin(angle)
			} else {
				y.v[rows.i(row, j)] += math.Cos(angle)
			}
		}
	}
	return y
}

func sinusoidalCases() []opCase {
	op := func(in G.Nodes) (*G.Node, error) { return graph.AddSinusoidal(in[0], second(in)) }
	return []opCase{
		{name: "sinusoidal", op: op, want: naiveSinusoidal, in: place("", 14)},
		{name: "sinusoidal_start", op: op, want: naiveSinusoidal, in: place("start", 14)},
		{name: "sinusoidal_rows", op: op, want: naiveSinusoidal, in: place("rows", 14)},
		{name: "sinusoidal_batches", op: op, want: naiveSinusoidal, in: place("batches", 14)},
		{name: "sinusoidal_one", op: op, want: naiveSinusoidal, in: then(shapes(s{1, 2}), key(-5))},
		{name: "sinusoidal_large", op: op, want: naiveSinusoidal, in: then(shapes(s{2, 211, 62}), key(3))}, // several blocks
	}
}

// The encoding is a constant: a weight before it has the same gradient with and without it.
func TestSinusoidsOfATrainableNode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	table, dout := normal(r, 7, 6), normal(r, 3, 6)
	in := append(inputs(table), ids([]float64{3, 0, 3}))
	gradient := func(op func(in G.Nodes) (*G.Node, error)) array {
		e := express(t, op, in, tensor.Float64)
		e.differentiate(t, in, dout, tensor.Float64)
		require.Equal(t, bits(e.onTape(t).grads[0]), bits(e.onOurs(t).grads[0]))
		return e.onOurs(t).grads[0]
	}
	embed := func(in G.Nodes) (*G.Node, error) { return graph.Embedding(in[0], in[1]) }
	placed := func(in G.Nodes) (*G.Node, error) {
		x, err := embed(in)
		require.NoError(t, err)
		return graph.AddSinusoidal(x, in[1])
	}
	require.Equal(t, bits(gradient(embed)), bits(gradient(placed)))
}

func TestWrongSinusoidsAreRefused(t *testing.T) {
	b := bench{G.NewGraph()}
	for _, x := range []*G.Node{b.f(), b.f(4), b.f(2, 3)} {
		_, err := graph.AddSinusoidal(x, nil)
		require.EqualError(t, err, fmt.Sprintf("graph: AddSinusoidal: x: shape %v, want (…, T, E) with an even E", x.Shape()))
	}
}
