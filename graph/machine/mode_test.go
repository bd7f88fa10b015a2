package machine_test

import (
	"testing"

	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// normed is a graph of normalised images with a gradient, and its op.
func normed(t *testing.T) (y *G.Node, op *G.BatchNormOp) {
	x := input(G.NewGraph(), "x", ramp(tensor.Float64, 4, 3, 2, 2))
	y, _, _, op, err := G.BatchNorm(x, channels(x, "scale"), channels(x, "shift"), 0.1, 1e-5)
	require.NoError(t, err)
	_, err = G.Grad(G.Must(G.Sum(G.Must(G.Square(y)))), x)
	require.NoError(t, err)
	return y, op
}

// A second machine on the graph continues the running statistics of the first.
func TestStatisticsSurviveASecondMachine(t *testing.T) {
	y, op := normed(t)
	moments := func() [][]float64 {
		mean, variance := op.Stats()
		return [][]float64{numbers(mean), numbers(variance)}
	}
	m, err := machine.ForGraph(y.Graph())
	require.NoError(t, err)
	require.Equal(t, [][]float64{{0, 0, 0}, {1, 1, 1}}, moments(), "as BatchNorm's Reset begins them")
	for range 3 {
		require.NoError(t, m.RunAll())
	}
	after3 := moments()
	second, err := machine.ForGraph(y.Graph())
	require.NoError(t, err)
	require.Equal(t, after3, moments())
	require.NoError(t, second.RunAll())
	require.NotEqual(t, after3, moments())

	other, once := normed(t)
	n, err := machine.ForGraph(other.Graph())
	require.NoError(t, err)
	for range 4 {
		require.NoError(t, n.RunAll())
	}
	mean, variance := once.Stats()
	require.Equal(t, [][]float64{numbers(mean), numbers(variance)}, moments())
}

// A machine that evaluates gives the results of the tape machine's EvalMode, and leaves the other machine in training.
func TestEvaluate(t *testing.T) {
	y, op := normed(t)
	var read G.Value
	G.Read(y, &read)
	trains, err := machine.ForGraph(y.Graph())
	require.NoError(t, err)
	evaluates, err := machine.GraphConfig{Evaluate: true}.ForGraph(y.Graph())
	require.NoError(t, err)
	require.NoError(t, trains.RunAll())
	trained := numbers(read)
	mean, _ := op.Stats()
	before := numbers(mean)
	require.NoError(t, evaluates.RunAll())
	got := numbers(read)
	require.NotEqual(t, trained, got)
	require.Equal(t, before, numbers(mean), "evaluation changes nothing")

	found, err := evaluates.FindNotFinite()
	require.NoError(t, err)
	require.Nil(t, found)
	require.Equal(t, before, numbers(mean), "nor does looking for a NaN")

	require.NoError(t, trains.RunAll())
	require.Equal(t, trained, numbers(read))
	require.NotEqual(t, before, numbers(mean), "the first machine trains on")

	same, sameOp := normed(t)
	var want G.Value
	G.Read(same, &want)
	require.NoError(t, G.NewTapeMachine(same.Graph()).RunAll())
	require.NoError(t, G.NewTapeMachine(same.Graph(), G.EvalMode()).RunAll())
	sameMean, _ := sameOp.Stats()
	require.InDeltaSlice(t, numbers(sameMean), before, 1e-12)
	require.InDeltaSlice(t, numbers(want), got, 1e-9)
}

// Dropout in evaluation returns its input.
func TestEvaluateDropsNothing(t *testing.T) {
	g := G.NewGraph()
	x := input(g, "x", ramp(tensor.Float64, 1000))
	y := G.Must(G.Dropout(x, 0.5))
	m, err := machine.GraphConfig{Evaluate: true}.ForGraph(g)
	require.NoError(t, err)
	engine := x.Value().(*tensor.Dense).Engine()
	require.NoError(t, m.RunAll())
	require.Equal(t, numbers(x.Value()), numbers(y.Value()))
	require.Equal(t, engine, x.Value().(*tensor.Dense).Engine(), "the input's is left")
	trains, err := machine.ForGraph(g)
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, trains.RunAll())
		require.Contains(t, numbers(y.Value()), 0.0)
		require.NoError(t, m.RunAll())
		require.Equal(t, numbers(x.Value()), numbers(y.Value()))
	}
}
