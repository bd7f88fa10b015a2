package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"attention/graph/machine"
	"attention/internal/golden"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// array is the tensor type of the tests' reference implementations: numbers in row-major order.
type array struct {
	shape []int
	v     []float64
}

func zeros(shape ...int) array {
	return array{shape, make([]float64, tensor.Shape(shape).TotalSize())}
}

// of returns an array of the given numbers; without a shape, a vector.
func of(v []float64, shape ...int) array {
	if len(shape) == 0 {
		shape = []int{len(v)}
	}
	return array{shape, v}
}

// i returns the position of the element at an index.
func (a array) i(index ...int) int {
	at := 0
	for k, x := range index {
		at = at*a.shape[k] + x
	}
	return at
}

func (a array) at(index ...int) float64 { return a.v[a.i(index...)] }

// axis returns the length of axis k, counted from the end if k is negative.
func (a array) axis(k int) int {
	if k < 0 {
		k += len(a.shape)
	}
	return a.shape[k]
}

// lead returns the shape with its last n axes replaced by others.
func (a array) lead(n int, last ...int) []int {
	return append(slices.Clone(a.shape[:len(a.shape)-n]), last...)
}

// like returns zeros in a's shape, its last axes replaced by the given ones.
func (a array) like(last ...int) array { return zeros(a.lead(len(last), last...)...) }

// rows returns the array as a matrix: all axes but the last in one.
func (a array) rows() array { return a.flat(1) }

// matrices returns the array as (N, rows, columns).
func (a array) matrices() array { return a.flat(2) }

// flat returns the array with all axes but the last n in one.
func (a array) flat(n int) array {
	tail := a.shape[len(a.shape)-n:]
	size := 1
	for _, d := range tail {
		size *= d
	}
	return array{append([]int{len(a.v) / size}, tail...), a.v}
}

// normal returns an array of normally distributed numbers.
func normal(r *rand.Rand, shape ...int) array {
	a := zeros(shape...)
	for i := range a.v {
		a.v[i] = r.NormFloat64()
	}
	return a
}

// dense returns the array as a tensor of type dt, rounded for float32.
func (a array) dense(dt tensor.Dtype) *tensor.Dense {
	if dt == tensor.Float32 || dt == tensor.Float64 {
		return golden.Dense(dt, a.v, a.shape...)
	}
	whole := reflect.MakeSlice(reflect.SliceOf(dt.Type), len(a.v), len(a.v))
	for i, v := range a.v {
		if dt == tensor.Bool {
			whole.Index(i).SetBool(v == 1)
		} else {
			whole.Index(i).Set(reflect.ValueOf(int64(v)).Convert(dt.Type))
		}
	}
	if len(a.shape) == 0 {
		return tensor.New(tensor.FromScalar(whole.Index(0).Interface()))
	}
	return tensor.New(tensor.WithShape(a.shape...), tensor.WithBacking(whole.Interface()))
}

// value returns the result of dense; for an array without axes it returns a Gorgonia scalar.
func (a array) value(dt tensor.Dtype) G.Value {
	if len(a.shape) > 0 {
		return a.dense(dt)
	}
	switch dt {
	case tensor.Float32:
		return G.NewF32(float32(a.v[0]))
	case tensor.Int:
		return G.NewI(int(a.v[0]))
	case tensor.Int64:
		return G.NewI64(int64(a.v[0]))
	case tensor.Float64:
		return G.NewF64(a.v[0])
	}
	return a.dense(dt)
}

// arrayOf returns a value of a machine, widened to float64.
func arrayOf(t testing.TB, v G.Value) array {
	t.Helper()
	switch x := v.Data().(type) {
	case float64:
		return array{nil, []float64{x}}
	case float32:
		return array{nil, []float64{float64(x)}}
	}
	return array{slices.Clone([]int(v.Shape())), golden.Floats(t, v)}
}

// near fails the test unless got has want's shape and each element is within tol + tol·|want|.
func near(t testing.TB, what string, want, got array, tol float64) {
	t.Helper()
	require.True(t, slices.Equal(want.shape, got.shape), "%s: shape %v, want %v", what, got.shape, want.shape)
	golden.Close(t, what, want.v, got.v, tol, tol)
}

// bits returns the bits of the elements: NaN equals itself, and 0 is not −0.
func bits(a array) []uint64 {
	b := make([]uint64, len(a.v))
	for i, v := range a.v {
		b[i] = math.Float64bits(v)
	}
	return b
}

// input is one argument of an op under test.
type input struct {
	array
	integer bool // ids or a key
	fixed   bool // no gradient flows into it
}

func inputs(as ...array) []input {
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

// result holds the values of a run of an expression.
type result struct {
	out   array
	grads []array // of the inputs that have one, in order
}

// node returns an input that holds the array.
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

// onTape runs the expression on Gorgonia's machine and returns copies of the values.
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

// compute returns the value of op on our machine, in float64.
func compute(t testing.TB, op func(in G.Nodes) (*G.Node, error), in ...array) array {
	t.Helper()
	return express(t, op, inputs(in...), tensor.Float64).onOurs(t).out
}

var inf, nan = math.Inf(1), math.NaN()

// through runs an op of one argument and its gradient on both machines, which must
// agree, and returns the value and the gradient.
func through(t *testing.T, op func(x *G.Node) (*G.Node, error), x, dout array, dt tensor.Dtype) (y, dx array) {
	t.Helper()
	in := inputs(x)
	e := express(t, unary(op), in, dt)
	e.differentiate(t, in, dout, dt)
	ours, tape := e.onOurs(t), e.onTape(t)
	require.Equal(t, bits(tape.out), bits(ours.out))
	require.Equal(t, bits(tape.grads[0]), bits(ours.grads[0]))
	return ours.out, ours.grads[0]
}
