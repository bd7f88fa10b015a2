package graph_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/internal/golden"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// array is what the oracles of these tests compute with: numbers in row-major
// order, indexed plainly.
type array struct {
	shape []int
	v     []float64
}

func zeros(shape ...int) array {
	return array{shape, make([]float64, tensor.Shape(shape).TotalSize())}
}

// of is an array of given numbers; without a shape they are a vector.
func of(v []float64, shape ...int) array {
	if len(shape) == 0 {
		shape = []int{len(v)}
	}
	return array{shape, v}
}

// i is where the element at an index lies.
func (a array) i(index ...int) int {
	at := 0
	for k, x := range index {
		at = at*a.shape[k] + x
	}
	return at
}

func (a array) at(index ...int) float64 { return a.v[a.i(index...)] }

// axis counts from the last axis for a negative k.
func (a array) axis(k int) int {
	if k < 0 {
		k += len(a.shape)
	}
	return a.shape[k]
}

// lead is the shape without its last n axes, and with others put in their place.
func (a array) lead(n int, last ...int) []int {
	return append(slices.Clone(a.shape[:len(a.shape)-n]), last...)
}

// like is an array of zeros whose last axes are replaced, as many as are given.
func (a array) like(last ...int) array { return zeros(a.lead(len(last), last...)...) }

// rows sees the array as a matrix: its last axis, and all others in one.
func (a array) rows() array { return a.flat(1) }

// matrices sees the array as (N, rows, columns).
func (a array) matrices() array { return a.flat(2) }

// flat puts all axes but the last n into one.
func (a array) flat(n int) array {
	tail := a.shape[len(a.shape)-n:]
	size := 1
	for _, d := range tail {
		size *= d
	}
	return array{append([]int{len(a.v) / size}, tail...), a.v}
}

// normal is an array of random numbers.
func normal(r *rand.Rand, shape ...int) array {
	a := zeros(shape...)
	for i := range a.v {
		a.v[i] = r.NormFloat64()
	}
	return a
}

// dense is the array as a tensor of type dt; its elements are rounded for float32.
func (a array) dense(dt tensor.Dtype) *tensor.Dense {
	var backing any = slices.Clone(a.v)
	switch dt {
	case tensor.Float32:
		backing = converted[float32](a.v)
	case tensor.Int:
		backing = converted[int](a.v)
	case tensor.Int64:
		backing = converted[int64](a.v)
	}
	return tensor.New(tensor.WithShape(a.shape...), tensor.WithBacking(backing))
}

func converted[To float32 | int | int64](from []float64) []To {
	to := make([]To, len(from))
	for i, v := range from {
		to[i] = To(v)
	}
	return to
}

// value is dense, or a Gorgonia scalar for an array without axes.
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
	}
	return G.NewF64(a.v[0])
}

// arrayOf is a value that a machine computed, widened to float64.
func arrayOf(t testing.TB, v G.Value) array {
	t.Helper()
	a := array{shape: slices.Clone([]int(v.Shape()))}
	switch d := v.Data().(type) {
	case []float64:
		a.v = slices.Clone(d)
	case []float32:
		for _, x := range d {
			a.v = append(a.v, float64(x))
		}
	case float64:
		a.v = []float64{d}
	case float32:
		a.v = []float64{float64(d)}
	default:
		require.FailNow(t, "value", "got %T", d)
	}
	return a
}

// near wants the shape of want and every element within atol + rtol·|want|.
func near(t testing.TB, what string, want, got array, tol float64) {
	t.Helper()
	require.True(t, slices.Equal(want.shape, got.shape), "%s: shape %v, want %v", what, got.shape, want.shape)
	golden.Close(t, what, want.v, got.v, tol, tol)
}

// bits tells values apart that == does not: NaN is equal to itself, 0 is not −0.
func bits(a array) []uint64 {
	b := make([]uint64, len(a.v))
	for i, v := range a.v {
		b[i] = math.Float64bits(v)
	}
	return b
}
