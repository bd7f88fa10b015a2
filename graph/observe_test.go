package graph_test

import (
	"testing"

	"attention/graph"
	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func observeCases() []opCase {
	return []opCase{
		{"observe", unary(func(x *G.Node) (*G.Node, error) {
			o, err := graph.Observe(x)
			return o.Node(), err
		}), each(func(x, _ float64) float64 { return x }), shapes(s{2, 3, 5})},
	}
}

// An intermediate that a stock op overwrites on Gorgonia's machine is whole in its
// observation, and two observations of one node are two.
func TestObservationsAreCopies(t *testing.T) {
	g := G.NewGraph()
	x := node(g, "x", of([]float64{1, 2, 3}), tensor.Float64)
	soft, err := graph.Softmax(x)
	require.NoError(t, err)
	first, err := graph.Observe(soft)
	require.NoError(t, err)
	second, err := graph.Observe(soft)
	require.NoError(t, err)
	require.NotSame(t, first.Node(), second.Node())
	require.Nil(t, first.Value(), "before a run")
	y := soft
	for range 4 { // stock unary ops compute in place
		y = G.Must(G.Neg(y))
	}
	run := func(vm G.VM) {
		require.NoError(t, vm.RunAll())
		want := naiveSoftmax(arrayOf(t, x.Value()))
		near(t, "first", want, arrayOf(t, first.Value()), 1e-15)
		near(t, "second", want, arrayOf(t, second.Value()), 1e-15)
		vm.Reset()
	}
	ours, err := machine.New(first.Node(), second.Node(), y)
	require.NoError(t, err)
	for _, vm := range []G.VM{G.NewTapeMachine(g), ours} {
		require.NoError(t, G.Let(x, of([]float64{1, 2, 3}).dense(tensor.Float64)))
		run(vm)
		require.NoError(t, G.Let(x, of([]float64{0, 5, -1}).dense(tensor.Float64)))
		run(vm)
	}
	require.NotSame(t, first.Value(), second.Value())
	first.Value().Zero()
	require.NotZero(t, second.Value().Data().([]float64)[0], "a copy of its own")
}

// Why observations are there: on Gorgonia's machine the value of an intermediate
// is gone when the run is over.
func TestWithoutObservationAnIntermediateIsOverwritten(t *testing.T) {
	g := G.NewGraph()
	x := node(g, "x", of([]float64{1, 2, 3}), tensor.Float64)
	soft, err := graph.Softmax(x)
	require.NoError(t, err)
	G.Must(G.Neg(soft))
	require.NoError(t, G.NewTapeMachine(g).RunAll())
	require.NotEqual(t, naiveSoftmax(arrayOf(t, x.Value())).v, soft.Value().Data())
}
