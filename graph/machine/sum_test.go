package machine_test

import (
	"testing"

	"attention/graph"
	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Gradients that meet in one node are added in planned memory.
func TestSumsOfGradientsArePlanned(t *testing.T) {
	g := G.NewGraph()
	x, y := input(g, "x", ramp(tensor.Float32, 64, 64)), input(g, "y", ramp(tensor.Float32, 64, 64))
	a := must(t)(graph.MatMul(x, y))
	cost := must(t)(graph.Mul(must(t)(graph.MatMul(a, x)), must(t)(graph.MatMul(x, a))))
	up := input(g, "up", ramp(tensor.Float32, 64, 64))
	grads, err := G.Backpropagate(G.Nodes{cost}, G.Nodes{up}, G.Nodes{x, y})
	require.NoError(t, err)
	m, err := machine.New(grads...)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	bytes := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, m.RunAll())
		}
	}).AllocedBytesPerOp()
	require.Less(t, bytes, int64(64*64*4), "less than a single intermediate")
}
