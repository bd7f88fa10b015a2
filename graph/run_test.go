package graph_test

import (
	"fmt"
	"math"
	"testing"

	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// input is one argument of an op under test.
type input struct {
	array
	integer bool // ids or a key
	fixed   bool // no gradient flows into it
}

func floats(as ...array) []input {
	in := make([]input, len(as))
	for i, a := range as {
		in[i].array = a
	}
	return in
}

// expression is an op over input nodes, with the gradients of those that have one.
type expression struct {
	g     *G.ExprGraph
	in    G.Nodes
	out   *G.Node
	dout  *G.Node
	grads G.Nodes // nil for inputs without gradient
}

// result is what running an expression gave.
type result struct {
	out   array
	grads []array // of the inputs that have one, in order
}

// node makes an input node that holds the array.
func node(g *G.ExprGraph, name string, a array, dt tensor.Dtype) *G.Node {
	if len(a.shape) == 0 {
		return G.NewScalar(g, dt, G.WithName(name), G.WithValue(a.value(dt)))
	}
	return G.NewTensor(g, dt, len(a.shape), G.WithShape(a.shape...), G.WithName(name), G.WithValue(a.value(dt)))
}

// express builds op over the inputs in a new graph.
func express(t testing.TB, op func(in G.Nodes) (*G.Node, error), in []input, dt tensor.Dtype) expression {
	t.Helper()
	e := expression{g: G.NewGraph()}
	for i, x := range in {
		of := dt
		if x.integer {
			of = tensor.Int64
		}
		e.in = append(e.in, node(e.g, fmt.Sprintf("in%d", i), x.array, of))
	}
	out, err := op(e.in)
	require.NoError(t, err)
	e.out = out
	return e
}

// differentiate adds the gradients for a gradient dout that flows into the result.
func (e *expression) differentiate(t testing.TB, in []input, dout array, dt tensor.Dtype) {
	t.Helper()
	e.dout = node(e.g, "dout", dout, dt)
	var wrt G.Nodes
	for i, x := range in {
		if !x.integer && !x.fixed {
			wrt = append(wrt, e.in[i])
		}
	}
	grads, err := G.Backpropagate(G.Nodes{e.out}, G.Nodes{e.dout}, wrt)
	require.NoError(t, err)
	e.grads = grads
}

// onTape runs the expression on Gorgonia's own machine. Reads are copies.
func (e expression) onTape(t testing.TB) result {
	t.Helper()
	values := make([]G.Value, 1+len(e.grads))
	for i, n := range append(G.Nodes{e.out}, e.grads...) {
		G.Read(n, &values[i])
	}
	m := G.NewTapeMachine(e.g)
	defer m.Close()
	require.NoError(t, m.RunAll())
	return resultOf(t, values)
}

// onOurs runs the expression on graph/machine, twice: the second run computes into
// memory that the first one left behind.
func (e expression) onOurs(t testing.TB) result {
	t.Helper()
	wanted := append(G.Nodes{e.out}, e.grads...)
	m, err := machine.New(wanted...)
	require.NoError(t, err)
	defer m.Close()
	require.NoError(t, m.RunAll())
	require.NoError(t, m.RunAll())
	values := make([]G.Value, len(wanted))
	for i, n := range wanted {
		values[i] = n.Value()
	}
	return resultOf(t, values)
}

func resultOf(t testing.TB, values []G.Value) result {
	t.Helper()
	r := result{out: arrayOf(t, values[0])}
	for _, v := range values[1:] {
		r.grads = append(r.grads, arrayOf(t, v))
	}
	return r
}

// compute is the value of op on our machine, in float64.
func compute(t testing.TB, op func(in G.Nodes) (*G.Node, error), in ...array) array {
	t.Helper()
	return express(t, op, floats(in...), tensor.Float64).onOurs(t).out
}

var inf, nan = math.Inf(1), math.NaN()

// through runs an op of one argument and its gradient on both machines, which must
// agree, and returns the value and the gradient.
func through(t *testing.T, op func(x *G.Node) (*G.Node, error), x, dout array, dt tensor.Dtype) (y, dx array) {
	t.Helper()
	in := floats(x)
	e := express(t, unary(op), in, dt)
	e.differentiate(t, in, dout, dt)
	ours, tape := e.onOurs(t), e.onTape(t)
	require.Equal(t, bits(tape.out), bits(ours.out))
	require.Equal(t, bits(tape.grads[0]), bits(ours.grads[0]))
	return ours.out, ours.grads[0]
}
