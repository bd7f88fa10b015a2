package graph_test

import (
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// x itself, parts of it, parts of parts and rows of it, all with one gradient.
func TestPartsBesideOtherUses(t *testing.T) {
	x := of([]float64{1, 2, 3, 4, 5, 6, 7, 8}, 2, 4)
	mixed := func(x *G.Node) (*G.Node, error) {
		halves, err := graph.Split(x, 2, 2)
		require.NoError(t, err)
		quarters, err := graph.Split(halves[1], 1, 1)
		require.NoError(t, err)
		again, err := graph.Split(x, 1, 2, 1)
		require.NoError(t, err)
		row, err := graph.Rows(x, 1, 1)
		require.NoError(t, err)
		four, err := graph.Concat(quarters[1], again[1], quarters[0])
		require.NoError(t, err)
		sum, err := graph.Add(x, four)
		require.NoError(t, err)
		tail, err := graph.Rows(row, 0, 1)
		require.NoError(t, err)
		one := G.NewTensor(x.Graph(), tensor.Float64, 2, G.WithShape(4, 4), G.WithName("1"), G.WithValue(identity(4)))
		rows, err := graph.MatMul(sum, one)
		require.NoError(t, err)
		both, err := graph.PairwiseAdd(rows, tail) // (2, 1, 4)
		return both, err
	}
	dout := of([]float64{1, 10, 100, 1000, 2, 20, 200, 2000}, 2, 1, 4)
	y, dx := through(t, mixed, x, dout, tensor.Float64)
	// y[t] = x[t] + (x[t,3], x[t,1], x[t,2], x[t,2]) + x[1]
	want := []float64{1 + 4 + 5, 2 + 2 + 6, 3 + 3 + 7, 4 + 3 + 8, 5 + 8 + 5, 6 + 6 + 6, 7 + 7 + 7, 8 + 7 + 8}
	require.Equal(t, want, y.v)
	require.Equal(t, []float64{1, 20, 1200, 1001, 2 + 3, 40 + 30, 2400 + 300, 2002 + 3000}, dx.v)
}

func identity(n int) *tensor.Dense {
	a := zeros(n, n)
	for i := range n {
		a.v[a.i(i, i)] = 1
	}
	return a.dense(tensor.Float64)
}

// Several parts may have the same gradient node.
func TestPartsWithOneGradient(t *testing.T) {
	_, dx := through(t, func(x *G.Node) (*G.Node, error) {
		halves, err := graph.Split(x, 2, 2)
		require.NoError(t, err)
		return graph.Add(halves[0], halves[1])
	}, of([]float64{1, 2, 3, 4}), of([]float64{5, 7}), tensor.Float64)
	require.Equal(t, []float64{5, 7, 5, 7}, dx.v)

	in := inputs(of([]float64{1, 2, 3, 4}), of([]float64{5, 6, 7, 8}))
	e := express(t, func(in G.Nodes) (*G.Node, error) {
		x, err := graph.Rows(in[0], 1, 2)
		require.NoError(t, err)
		y, err := graph.Rows(in[1], 1, 2)
		require.NoError(t, err)
		return graph.Add(x, y)
	}, in, tensor.Float64)
	e.differentiate(t, in, of([]float64{5, 7}), tensor.Float64)
	for _, got := range []result{e.onOurs(t), e.onTape(t)} {
		require.Equal(t, []float64{0, 5, 7, 0}, got.grads[0].v)
		require.Equal(t, []float64{0, 5, 7, 0}, got.grads[1].v)
	}
}

// One op writes the gradients of all parts side by side, without a node of x's size for each.
func TestPartsHaveOneGradientOp(t *testing.T) {
	in := inputs(normal(random(1), 2, 3, 7))
	e := express(t, parts(2, 1, 0), in, tensor.Float64)
	e.differentiate(t, in, normal(random(2), 2, 3, 7), tensor.Float64)
	require.Equal(t, "WholeGradient", e.grads[0].Op().String())
	large := 0
	for _, n := range e.g.AllNodes() {
		if n.Op() != nil && n.Shape().TotalSize() == 2*3*7 {
			large++
		}
	}
	require.Equal(t, 2, large) // the result and the gradient
}
