package machine_test

import (
	"testing"

	"attention/graph"
	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A result may be bound as the next run's input, though the run overwrites the
// memory it lies in.
func TestAResultMayBeTheNextInput(t *testing.T) {
	run := func(bind func(v *tensor.Dense) *tensor.Dense) []float64 {
		g := G.NewGraph()
		x := input(g, "x", ramp(tensor.Float64, 3, 3))
		y := must(t)(graph.Tanh(must(t)(graph.Scale(x, 0.01))))
		z := must(t)(graph.MatMul(must(t)(graph.MatMul(y, x)), x))
		m, err := machine.New(z)
		require.NoError(t, err)
		require.NoError(t, m.RunAll())
		require.NoError(t, G.Let(x, bind(z.Value().(*tensor.Dense))))
		require.NoError(t, m.RunAll())
		return z.Value().Data().([]float64)
	}
	copied := run(func(v *tensor.Dense) *tensor.Dense { return v.Clone().(*tensor.Dense) })
	require.Equal(t, copied, run(func(v *tensor.Dense) *tensor.Dense { return v }))
}

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

func TestFindNotFiniteOfAClosedMachine(t *testing.T) {
	m, err := machine.New(must(t)(graph.Softmax(input(G.NewGraph(), "x", ramp(tensor.Float64, 2)))))
	require.NoError(t, err)
	require.NoError(t, m.Close())
	_, err = m.FindNotFinite()
	require.EqualError(t, err, "machine: the machine is closed")
}
