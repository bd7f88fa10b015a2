package machine_test

import (
	"testing"

	"attention/graph"
	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// ramp is a tensor of distinct values.
func ramp(dt tensor.Dtype, shape ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(tensor.Range(dt, 1, 1+tensor.Shape(shape).TotalSize())))
}

func input(g *G.ExprGraph, name string, v *tensor.Dense) *G.Node {
	return G.NewTensor(g, v.Dtype(), v.Dims(), G.WithName(name), G.WithShape(v.Shape()...), G.WithValue(v))
}

func TestRunsAreRepeatable(t *testing.T) {
	g := G.NewGraph()
	x, y := input(g, "x", ramp(tensor.Float64, 2, 3)), input(g, "y", ramp(tensor.Float64, 3, 2))
	a, err := graph.MatMul(x, y)
	require.NoError(t, err)
	b, err := graph.Scale(a, 0.01)
	require.NoError(t, err)
	c, err := graph.Softmax(b)
	require.NoError(t, err)
	d := G.Must(G.Mul(c, c)) // a stock op
	loss := G.Must(G.Sum(d))
	grads, err := G.Grad(loss, x, y)
	require.NoError(t, err)

	m, err := machine.New(append(grads, loss, a)...)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	first := [][]float64{}
	for _, n := range append(grads, a) {
		first = append(first, append([]float64{}, n.Value().Data().([]float64)...))
	}
	require.NoError(t, m.RunAll())
	for i, n := range append(grads, a) {
		require.Equal(t, first[i], n.Value().Data())
	}
	tape := G.NewTapeMachine(g.SubgraphRoots(append(grads, loss)...))
	require.NoError(t, tape.RunAll())
	for i, n := range grads {
		require.Equal(t, first[i], n.Value().Data())
	}
}
