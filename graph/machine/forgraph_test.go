package machine_test

import (
	"context"
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

// Only wanted nodes have a value after a run: no value of another machine's run is left.
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

// A gradient is that of the last run, even if a tape machine has bound one to the variable.
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

// Gorgonia builds both gradients of a product. The gradient of the input, which nobody requested, is not computed. The
// one of the input, which nobody asked for, is not computed.
func TestForGraphLeavesOutStrayGradients(t *testing.T) {
	g := G.NewGraph()
	x, w := input(g, "x", ramp(tensor.Float64, 5, 3)), input(g, "w", ramp(tensor.Float64, 3, 2))
	loss := G.Must(G.Sum(G.Must(G.Square(G.Must(G.Mul(x, w))))))
	before := len(g.AllNodes())
	grads, err := G.Grad(loss, w)
	require.NoError(t, err)
	m, err := machine.ForGraph(g)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	require.NotNil(t, grads[0].Value())
	require.NotNil(t, loss.Value())
	strays := 0
	for _, n := range g.AllNodes()[before:] {
		if n.Shape().Eq(x.Shape()) && n != grads[0] {
			strays++
			require.Nil(t, n.Value(), "%v", n)
		}
	}
	require.Equal(t, 1, strays)
}

// A loss has its value even if a gradient reads it, as the gradient of a mean does.
func TestForGraphOfALossThatIsRead(t *testing.T) {
	g := G.NewGraph()
	x := input(g, "x", ramp(tensor.Float64, 4))
	cost := G.Must(G.Mean(x))
	_, err := G.Grad(cost, x)
	require.NoError(t, err)
	require.NotZero(t, g.To(cost.ID()).Len())
	m, err := machine.ForGraph(g)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	require.Equal(t, 2.5, cost.Value().Data())
}

func TestForGraphRefuses(t *testing.T) {
	_, err := machine.ForGraph(nil)
	require.EqualError(t, err, "machine: graph: got nil, want one")
}

// Read sets the caller's variable: a new value in the first run, then the same value again.
func TestForGraphReads(t *testing.T) {
	g := G.NewGraph()
	x := input(g, "x", ramp(tensor.Float64, 2))
	sum := G.Must(G.Sum(x))
	var between, scalar, in G.Value
	square := G.Must(G.Square(x))
	G.Read(square, &between)
	G.Read(sum, &scalar)
	G.Read(x, &in)
	last := G.Must(G.Exp(square))
	m, err := machine.ForGraph(g)
	require.NoError(t, err)
	for _, v := range [][]float64{{1, 2}, {3, -4}} {
		require.NoError(t, G.Let(x, tensor.New(tensor.WithBacking(v))))
		require.NoError(t, m.RunAll())
		require.Equal(t, []float64{v[0] * v[0], v[1] * v[1]}, between.Data())
		require.Equal(t, v[0]+v[1], scalar.Data())
		require.Equal(t, v, in.Data())
		require.NotNil(t, last.Value())
	}
	kept := between
	require.NoError(t, m.RunAll())
	require.True(t, kept == between)
}

// After a failed run no wanted node has a value, since it may be half computed.
func TestForGraphOfAFailingRun(t *testing.T) {
	g := G.NewGraph()
	x := input(g, "x", ramp(tensor.Float64, 2))
	y := G.NewVector(g, tensor.Float64, G.WithShape(2), G.WithName("y"))
	first := G.Must(G.Exp(x))
	second := G.Must(G.Add(first, y))
	third := G.Must(G.Neg(first))
	_, err := G.Grad(G.Must(G.Sum(G.Must(G.Square(x)))), x)
	require.NoError(t, err)
	m, err := machine.ForGraph(g)
	require.NoError(t, err)
	require.NoError(t, G.Let(y, tensor.New(tensor.WithBacking([]float64{1, 2}))))
	require.NoError(t, m.RunAll())
	require.NotNil(t, second.Value())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, m.Run(ctx), context.Canceled)
	require.Nil(t, second.Value())
	require.Nil(t, third.Value())
	require.NotNil(t, x.Value())
	d, err := x.Grad()
	require.NoError(t, err)
	require.Nil(t, d, "no solver takes the gradient of the run before")
	require.NoError(t, m.RunAll())
	require.NotNil(t, second.Value())
}

// A graph without ops runs: an empty graph, an input that is read, a constant.
func TestForGraphWithoutAnOp(t *testing.T) {
	m, err := machine.ForGraph(G.NewGraph())
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	require.Equal(t, "machine of 0 nodes, 0 inputs, 0.0 MB", m.String())

	g := G.NewGraph()
	x := input(g, "x", ramp(tensor.Float64, 2))
	constant := g.AddNode(G.NewConstant(ramp(tensor.Float64, 3)))
	var read G.Value
	G.Read(x, &read)
	for _, c := range []machine.GraphConfig{{}, {KeepAll: true}, {Evaluate: true}} {
		m, err := c.ForGraph(g)
		require.NoError(t, err)
		for _, v := range [][]float64{{3, 4}, {5, 6}} {
			require.NoError(t, G.Let(x, tensor.New(tensor.WithBacking(v))))
			require.NoError(t, m.RunAll())
			require.Equal(t, v, numbers(read))
			require.Equal(t, []float64{1, 2, 3}, numbers(constant.Value()))
		}
		require.NoError(t, m.Close())
		require.EqualError(t, m.RunAll(), "machine: the machine is closed")
	}
}

// The result of a Tensordot over all axes has shape (1), as in Gorgonia, and so has the input of an op that reads it.
func TestForGraphOfAFullContraction(t *testing.T) {
	g := G.NewGraph()
	x, y := input(g, "x", ramp(tensor.Float64, 2, 3)), input(g, "y", ramp(tensor.Float64, 2, 3))
	all := G.Must(G.Tensordot([]int{0, 1}, []int{0, 1}, x, y))
	require.True(t, all.Shape().IsScalar())
	square := G.Must(G.Square(all))
	_, err := G.Grad(square, x)
	require.NoError(t, err)
	m, err := machine.ForGraph(g)
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, m.RunAll())
		require.Equal(t, []float64{91}, all.Value().Data())
		require.Equal(t, tensor.Shape{1}, all.Value().Shape())
		require.Equal(t, []float64{91 * 91}, numbers(square.Value()))
		d, err := x.Grad()
		require.NoError(t, err)
		require.Equal(t, []float64{182, 364, 546, 728, 910, 1092}, numbers(d))
	}
}

// An error identifies an input without a name by its type and shape.
func TestNamelessInputWithoutAValue(t *testing.T) {
	g := G.NewGraph()
	x := G.NewUniqueNode(G.In(g), G.WithType(tensor.Float64), G.WithShape())
	m, err := machine.ForGraph(G.Must(G.Neg(x)).Graph())
	require.NoError(t, err)
	require.EqualError(t, m.RunAll(),
		"machine: input of float64 () without a name has no value; bind one with gorgonia.Let")
}
