package machine_test

import (
	"testing"

	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A solver clears the gradient that Grad returns. The gradient's own node keeps its value. If the gradients of two
// inputs are one node, each input has its own copy.
func TestDerivKeepsItsValueAfterAStep(t *testing.T) {
	g := G.NewGraph()
	x, y := input(g, "x", ramp(tensor.Float64, 3)), input(g, "y", ramp(tensor.Float64, 3))
	number := G.NewScalar(g, tensor.Float64, G.WithName("number"), G.WithValue(2.0))
	loss := G.Must(G.Mul(number, G.Must(G.Sum(G.Must(G.Square(G.Must(G.Add(x, y))))))))
	_, err := G.Grad(loss, x, y, number)
	require.NoError(t, err)
	require.True(t, x.Deriv() == y.Deriv())
	m, err := machine.ForGraph(g)
	require.NoError(t, err)
	solver := G.NewVanillaSolver(G.WithLearnRate(0.125))
	for range 3 {
		before, squares := numbers(x.Value()), 0.0
		scale := number.Value().Data().(float64)
		want := make([]float64, 3)
		for i, v := range before {
			want[i] = 2 * scale * 2 * v
			squares += 4 * v * v
		}
		require.NoError(t, m.RunAll())
		require.NoError(t, solver.Step(G.NodesToValueGrads(G.Nodes{x, y})))
		require.Equal(t, want, numbers(x.Deriv().Value()))
		for _, n := range (G.Nodes{x, y}) {
			d, err := n.Grad()
			require.NoError(t, err)
			require.Equal(t, make([]float64, 3), numbers(d), "cleared")
			for i, v := range before {
				require.InDelta(t, v-0.125*want[i], numbers(n.Value())[i], 1e-12)
			}
		}
		d, err := number.Grad()
		require.NoError(t, err)
		require.InDelta(t, squares, numbers(d)[0], 1e-12)
	}
}

// A machine made by New provides its own gradient, even if another machine has stored one at the input.
func TestGradientsOfSeveralMachines(t *testing.T) {
	g := G.NewGraph()
	x := input(g, "x", ramp(tensor.Float64, 2))
	grads, err := G.Grad(G.Must(G.Sum(G.Must(G.Square(x)))), x)
	require.NoError(t, err)
	whole, err := machine.ForGraph(g)
	require.NoError(t, err)
	alone, err := machine.New(grads...)
	require.NoError(t, err)
	for round, m := range []*machine.Machine{whole, alone, alone, whole, alone} {
		v := []float64{float64(round), 1}
		require.NoError(t, G.Let(x, tensor.New(tensor.WithBacking(v))))
		require.NoError(t, m.RunAll())
		d, err := x.Grad()
		require.NoError(t, err)
		require.Equal(t, []float64{2 * float64(round), 2}, numbers(d))
		require.Equal(t, v, numbers(x.Value()))
	}
}
