package machine_test

import (
	"context"
	"errors"
	"testing"

	"attention/graph"
	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A run needs no Reset, accumulates nothing and reads the inputs' current values.
func TestRunsAreRepeatable(t *testing.T) {
	g := G.NewGraph()
	x, y := input(g, "x", ramp(tensor.Float64, 2, 3)), input(g, "y", ramp(tensor.Float64, 3, 2))
	loss := G.Must(G.Sum(must(t)(graph.MatMul(must(t)(graph.Softmax(must(t)(graph.MatMul(x, y)))), x))))
	grads, err := G.Grad(loss, x, y)
	require.NoError(t, err)
	wanted := append(grads, loss)
	m, err := machine.New(wanted...)
	require.NoError(t, err)
	run := func() (got [][]uint64) {
		require.NoError(t, m.RunAll())
		for _, n := range wanted {
			got = append(got, bits(t, n.Value()))
		}
		return got
	}
	first := run()
	require.Equal(t, first, run())
	m.Reset()
	require.Equal(t, first, run())
	x.Value().(*tensor.Dense).Set(0, 7.0) // in place, as solvers do
	require.NotEqual(t, first, run())
	require.NoError(t, G.Let(x, ramp(tensor.Float64, 2, 3)))
	require.Equal(t, first, run())
}

// A gradient is also the variable's Grad.
func TestGradOfAVariable(t *testing.T) {
	g := G.NewGraph()
	x := input(g, "x", ramp(tensor.Float64, 2, 3))
	grads, err := G.Grad(G.Must(G.Sum(must(t)(graph.Scale(x, 3)))), x)
	require.NoError(t, err)
	m, err := machine.New(grads...)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	grad, err := x.Grad()
	require.NoError(t, err)
	require.Equal(t, []float64{3, 3, 3, 3, 3, 3}, grad.Data())
}

// Inputs, constants and one node twice may be wanted.
func TestAnyNodeMayBeWanted(t *testing.T) {
	g := G.NewGraph()
	x := input(g, "x", ramp(tensor.Float64, 2, 2))
	y := G.Must(G.Add(x, G.NewConstant(1.0)))
	constant := g.Constant(G.NewF64(1))
	m, err := machine.New(x, y, y, constant)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	require.Equal(t, []float64{1, 2, 3, 4}, x.Value().Data())
	require.Equal(t, []float64{2, 3, 4, 5}, y.Value().Data())
	require.Equal(t, 1.0, constant.Value().Data())
}

// Only wanted nodes, and the nodes that they need, are computed.
func TestTheRestIsLeftOut(t *testing.T) {
	g := G.NewGraph()
	x := input(g, "x", ramp(tensor.Float64, 2, 2))
	ran := false
	apply(t, stub{"spy", tensor.Shape{2, 2}, tensor.Float64, func(x G.Value) (G.Value, error) {
		ran = true
		return x, nil
	}}, x)
	var read G.Value
	y := must(t)(graph.Scale(x, 2))
	G.Read(y, &read)
	m, err := machine.New(y)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	require.False(t, ran)
	require.Nil(t, read, "a read is not run")
	require.Equal(t, []float64{2, 4, 6, 8}, y.Value().Data())
}

func TestWrongNodesAreRefused(t *testing.T) {
	g, other := G.NewGraph(), G.NewGraph()
	x, y := input(g, "x", ramp(tensor.Float64, 2)), input(other, "y", ramp(tensor.Float64, 2))
	const foreign = "is nil or of another graph, want nodes of one graph"
	for _, c := range []struct {
		wanted G.Nodes
		want   string
	}{
		{wanted: G.Nodes{}, want: "machine: wanted: got no node, want at least one"},
		{wanted: G.Nodes{nil}, want: "machine: wanted: node 0 " + foreign},
		{wanted: G.Nodes{x, nil}, want: "machine: wanted: node 1 " + foreign},
		{wanted: G.Nodes{x, x, y}, want: "machine: wanted: node 2 " + foreign},
		{wanted: G.Nodes{G.NewConstant(1.0)}, want: "machine: wanted: node 0 " + foreign},
	} {
		m, err := machine.New(c.wanted...)
		require.EqualError(t, err, c.want)
		require.Nil(t, m)
	}
}

func TestErrorsOfARun(t *testing.T) {
	g := G.NewGraph()
	x := input(g, "x", ramp(tensor.Float64, 2))
	empty := G.NewVector(g, tensor.Float64, G.WithShape(2), G.WithName("empty one"))
	fails := func(name string, do func(x G.Value) (G.Value, error)) *G.Node {
		return apply(t, stub{name, tensor.Shape{2}, tensor.Float64, do}, x)
	}
	for _, c := range []struct {
		node *G.Node
		want string
	}{
		{node: must(t)(graph.Softmax(empty)), want: `machine: input "empty one" has no value; bind one with gorgonia.Let`},
		{node: fails("panics", func(G.Value) (G.Value, error) { panic("index out of range") }),
			want: "panic: index out of range"},
		{node: fails("fails", func(G.Value) (G.Value, error) { return nil, errors.New("this op never works") }),
			want: "machine: this op never works"},
		{node: fails("lies about its shape", func(G.Value) (G.Value, error) { return ramp(tensor.Float64, 3), nil }),
			want: "expected shape"},
	} {
		m, err := machine.New(c.node)
		require.NoError(t, err)
		err = m.RunAll()
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "machine: ")
	}
	require.NoError(t, G.Let(empty, ramp(tensor.Float64, 2)))
}

// After an error the machine can run again.
func TestRunAfterAnError(t *testing.T) {
	g := G.NewGraph()
	x := G.NewVector(g, tensor.Float64, G.WithShape(2), G.WithName("x"))
	y := must(t)(graph.Softmax(x))
	m, err := machine.New(y)
	require.NoError(t, err)
	require.Error(t, m.RunAll())
	require.NoError(t, G.Let(x, tensor.New(tensor.WithBacking([]float64{3, 3}))))
	require.NoError(t, m.RunAll())
	require.Equal(t, []float64{0.5, 0.5}, y.Value().Data())
}

func TestRunStopsWithItsContext(t *testing.T) {
	g := G.NewGraph()
	ctx, cancel := context.WithCancel(context.Background())
	x := input(g, "x", ramp(tensor.Float64, 2))
	y := apply(t, stub{"cancels", tensor.Shape{2}, tensor.Float64, func(x G.Value) (G.Value, error) {
		cancel()
		return x, nil
	}}, x)
	m, err := machine.New(must(t)(graph.Softmax(y)))
	require.NoError(t, err)
	err = m.Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, "machine: stopped at op 2 of 3: context canceled")
	require.NoError(t, m.RunAll())
}

func TestAClosedMachineRefusesToRun(t *testing.T) {
	g := G.NewGraph()
	m, err := machine.New(must(t)(graph.Softmax(input(g, "x", ramp(tensor.Float64, 2)))))
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	require.NoError(t, m.Close())
	require.NoError(t, m.Close())
	require.EqualError(t, m.RunAll(), "machine: the machine is closed")
}

// Gorgonia binds a scalar to any node; the machine refuses it.
func TestInputsOfAnotherTypeOrShapeAreRefused(t *testing.T) {
	g := G.NewGraph()
	x := G.NewMatrix(g, tensor.Float64, G.WithShape(2, 3), G.WithName("x"))
	y, err := graph.Scale(x, 2)
	require.NoError(t, err)
	m, err := machine.New(y)
	require.NoError(t, err)
	for _, c := range []struct {
		value any
		want  string
	}{
		{value: 3.0, want: `machine: input "x": got float64 (), want float64 (2, 3)`},
		{value: float32(3), want: `machine: input "x": got float32 (), want float64 (2, 3)`},
	} {
		require.NoError(t, G.Let(x, c.value))
		require.EqualError(t, m.RunAll(), c.want)
	}
}

// A result may be bound as the next run's input, though the run overwrites its memory.
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

// A change of a slice by gorgonia.UnsafeLet takes effect from the next run on, also in the slice's gradient.
func TestSliceThatChanges(t *testing.T) {
	for name, machineOf := range map[string]func(wanted ...*G.Node) (*machine.Machine, error){
		"New":      machine.New,
		"ForGraph": func(wanted ...*G.Node) (*machine.Machine, error) { return machine.ForGraph(wanted[0].Graph()) },
	} {
		g := G.NewGraph()
		x := input(g, "x", ramp(tensor.Float64, 6, 2))
		rows := must(t)(G.Slice(x, G.S(0, 2)))
		loss := must(t)(G.Sum(must(t)(G.Square(rows))))
		grads, err := G.Grad(loss, x)
		require.NoError(t, err)
		m, err := machineOf(loss, grads[0])
		require.NoError(t, err)
		v := x.Value().Data().([]float64)
		for _, from := range []int{0, 3, 4, 0} {
			require.NoError(t, G.UnsafeLet(rows, G.S(from, from+2)))
			require.NoError(t, m.RunAll())
			want, dx := 0.0, make([]float64, len(v))
			for i := 2 * from; i < 2*from+4; i++ {
				want, dx[i] = want+v[i]*v[i], 2*v[i]
			}
			require.InDelta(t, want, loss.Value().Data(), 1e-12, name)
			got, err := x.Grad()
			require.NoError(t, err)
			require.InDeltaSlice(t, dx, got.Data(), 1e-12, name)
		}
	}
}
