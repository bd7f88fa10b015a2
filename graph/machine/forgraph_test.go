package machine_test

import (
	"testing"

	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A program that people write for the tape machine: a logistic loss, its gradient, a solver.
func TestForGraphStandsForTheTapeMachine(t *testing.T) {
	type vm interface{ G.VM }
	train := func(machineOf func(g *G.ExprGraph, w *G.Node) vm) (losses []float64, w []float64) {
		g := G.NewGraph()
		x := input(g, "x", ramp(tensor.Float64, 5, 3))
		wn := input(g, "w", ramp(tensor.Float64, 3, 1))
		p := G.Must(G.Sigmoid(G.Must(G.Mul(x, wn))))
		loss := G.Must(G.Mean(G.Must(G.Square(p))))
		var read G.Value
		G.Read(loss, &read)
		_, err := G.Grad(loss, wn)
		require.NoError(t, err)
		m := machineOf(g, wn)
		defer m.Close()
		solver := G.NewAdamSolver(G.WithLearnRate(0.1))
		for range 5 {
			require.NoError(t, m.RunAll())
			require.NoError(t, solver.Step(G.NodesToValueGrads(G.Nodes{wn})))
			losses = append(losses, read.Data().(float64))
			require.Equal(t, read.Data(), loss.Value().Data())
			m.Reset()
		}
		return losses, wn.Value().Data().([]float64)
	}
	wantLosses, wantW := train(func(g *G.ExprGraph, w *G.Node) vm { return G.NewTapeMachine(g, G.BindDualValues(w)) })
	losses, w := train(func(g *G.ExprGraph, _ *G.Node) vm {
		m, err := machine.ForGraph(g)
		require.NoError(t, err)
		return m
	})
	require.InDeltaSlice(t, wantLosses, losses, 1e-11)
	require.InDeltaSlice(t, wantW, w, 1e-11)
}

// Only what is wanted has a value after a run: none is left of a run of another machine.
func TestForGraphLeavesNoStaleValues(t *testing.T) {
	g := G.NewGraph()
	x := input(g, "x", ramp(tensor.Float64, 2, 3))
	between := G.Must(G.Tanh(x))
	last := G.Must(G.Exp(between))
	tape := G.NewTapeMachine(g)
	require.NoError(t, tape.RunAll())
	require.NoError(t, tape.Close())
	require.NotNil(t, between.Value())
	m, err := machine.ForGraph(g)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	require.Nil(t, between.Value())
	require.NotNil(t, last.Value())
	require.NotNil(t, x.Value())
}

// A gradient is the run's own, also where a tape machine bound one to the variable.
func TestForGraphGradientsDoNotAddUp(t *testing.T) {
	g := G.NewGraph()
	x := input(g, "x", ramp(tensor.Float64, 2, 3))
	cost := G.Must(G.Sum(G.Must(G.Square(x))))
	_, err := G.Grad(cost, x)
	require.NoError(t, err)
	tape := G.NewTapeMachine(g, G.BindDualValues(x))
	require.NoError(t, tape.RunAll())
	require.NoError(t, tape.Close())
	m, err := machine.ForGraph(g)
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, m.RunAll())
		d, err := x.Grad()
		require.NoError(t, err)
		for i, v := range x.Value().Data().([]float64) {
			require.InDelta(t, 2*v, d.Data().([]float64)[i], 1e-15)
		}
	}
}

func TestForGraphRefuses(t *testing.T) {
	_, err := machine.ForGraph(nil)
	require.EqualError(t, err, "machine: graph: got nil, want one")
	_, err = machine.ForGraph(G.NewGraph())
	require.EqualError(t, err, "machine: graph: got a graph without an op, want something to compute")
}
