package graph_test

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func sumBy(c graph.ReduceConfig) func(x *G.Node) (*G.Node, error) {
	return func(x *G.Node) (*G.Node, error) { return graph.Sum(x, c) }
}

func reduceCases() []opCase {
	var cases []opCase
	for _, f := range []struct {
		name string
		op   func(x *G.Node, c graph.ReduceConfig) (*G.Node, error)
		of   func(v []float64) float64
	}{
		{name: "sum", op: graph.Sum, of: sumOf},
		{name: "mean", op: graph.Mean, of: func(v []float64) float64 { return sumOf(v) / float64(len(v)) }},
		{name: "max", op: graph.Max, of: slices.Max[[]float64]},
	} {
		for _, c := range []struct {
			name   string
			shape  s
			config graph.ReduceConfig
		}{
			{name: "", shape: s{2, 3, 5}},
			{name: "_kept", shape: s{2, 3, 5}, config: graph.ReduceConfig{KeepDim: true}},
			{name: "_last", shape: s{2, 3, 5}, config: graph.ReduceConfig{Dim: []int{-1}}},
			{name: "_middle", shape: s{2, 3, 5}, config: graph.ReduceConfig{Dim: []int{1}, KeepDim: true}},
			{name: "_apart", shape: s{2, 3, 5, 7}, config: graph.ReduceConfig{Dim: []int{2, 0}}},
			{name: "_apart_kept", shape: s{2, 3, 5, 7}, config: graph.ReduceConfig{Dim: []int{1, -1}, KeepDim: true}},
			{name: "_ones", shape: s{1, 3, 1}, config: graph.ReduceConfig{Dim: []int{0, 1, 2}}},
			{name: "_of_one", shape: s{3, 1}, config: graph.ReduceConfig{Dim: []int{1}}},
			{name: "_scalar"},
		} {
			cases = append(cases, opCase{name: f.name + c.name, in: shapes(c.shape),
				op: unary(func(x *G.Node) (*G.Node, error) { return f.op(x, c.config) }),
				want: func(in []array) array {
					return naiveReduce(in[0], c.config.Dim, c.config.KeepDim, f.of)
				}})
		}
	}
	return cases
}

func sumOf(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum
}

// naiveReduce applies f to the elements along axes.
func naiveReduce(x array, dim []int, keep bool, f func(v []float64) float64) array {
	reduced := make([]bool, len(x.shape))
	for axis := range reduced {
		reduced[axis] = len(dim) == 0 || slices.Contains(dim, axis) || slices.Contains(dim, axis-len(x.shape))
	}
	kept, shape := []int{}, []int{}
	for axis, n := range x.shape {
		switch {
		case !reduced[axis]:
			kept, shape = append(kept, n), append(shape, n)
		case keep:
			kept, shape = append(kept, 1), append(shape, 1)
		default:
			kept = append(kept, 1)
		}
	}
	y := zeros(shape...)
	y.shape = shape
	terms := make([][]float64, len(y.v))
	for i, v := range x.v {
		at, step, rest := 0, 1, i
		for axis := len(x.shape) - 1; axis >= 0; axis-- {
			if kept[axis] > 1 {
				at += rest % x.shape[axis] * step
				step *= kept[axis]
			}
			rest /= x.shape[axis]
		}
		terms[at] = append(terms[at], v)
	}
	for i := range y.v {
		y.v[i] = f(terms[i])
	}
	return y
}

// Sums of 1.5 and 31 million float32 differ from the exact sums by at most 2⁻²³·log₂n·Σ|x|, and their bits do not
// depend on the number of processors.
func TestSumsOfManyElements(t *testing.T) {
	sizes := []int{1_500_000, 31_000_000}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, n := range sizes {
		x := make([]float32, n)
		size, lost := 0.0, 0.0 // the sum of numbers from 0 to 2, and its rounding error (Knuth's TwoSum)
		for i := range x {
			x[i] = float32(1 + math.Sin(float64(i)))
			v, sum := float64(x[i]), size+float64(x[i])
			added := sum - size
			lost += (size - (sum - added)) + (v - added)
			size = sum
		}
		want := size + lost
		for _, c := range []struct {
			name    string
			op      func(x *G.Node) (*G.Node, error)
			divisor float64
		}{
			{name: "sum", op: sumBy(graph.ReduceConfig{}), divisor: 1},
			{name: "mean", op: func(x *G.Node) (*G.Node, error) { return graph.Mean(x, graph.ReduceConfig{}) },
				divisor: float64(n)},
		} {
			run := func() float64 {
				g := G.NewGraph()
				in := G.NewVector(g, tensor.Float32, G.WithShape(n), G.WithName("x"),
					G.WithValue(tensor.New(tensor.WithShape(n), tensor.WithBacking(x))))
				return computed(t, c.op, in).v[0]
			}
			got := run()
			bound := 0x1p-23 * math.Log2(float64(n)) * size / c.divisor
			require.LessOrEqual(t, math.Abs(got-want/c.divisor), bound, "%s of %d", c.name, n)
			require.InEpsilon(t, want/c.divisor, got, 1e-7, "%s of %d", c.name, n)
			before := runtime.GOMAXPROCS(1)
			require.Equal(t, got, run())
			runtime.GOMAXPROCS(before)
		}
	}
}

// Equal elements share the gradient of Max; NaN and the infinities behave as in torch.amax.
func TestMaxOfEqualsAndSpecialNumbers(t *testing.T) {
	x := of([]float64{2, 7, 7, 7, -inf, -inf, -inf, -inf, nan, 1, inf, 3, inf, 1, inf, 2}, 4, 4)
	op := func(x *G.Node) (*G.Node, error) { return graph.Max(x, graph.ReduceConfig{Dim: []int{1}}) }
	for _, p := range tolerances {
		y, dx := through(t, op, x, of([]float64{3, 8, 5, 4}), p.dt)
		near(t, "y", of([]float64{7, -inf, nan, inf}), y, 0)
		require.Equal(t, of([]float64{0, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0, 2, 0, 2, 0}, 4, 4), dx)
	}
}

func TestWrongReductionsAreRefused(t *testing.T) {
	b := bench{G.NewGraph()}
	over := func(dim ...int) func(x *G.Node) (*G.Node, error) { return sumBy(graph.ReduceConfig{Dim: dim}) }
	refuseAll(t, []refusal{
		{call: call(one(over(2)), b.f(2, 3)), want: "Sum: dim: got 2, want an axis of x, of shape (2, 3)"},
		{call: call(one(over(-3)), b.f(2, 3)), want: "Sum: dim: got -3, want an axis of x, of shape (2, 3)"},
		{call: call(one(over(math.MinInt)), b.f(2, 3)),
			want: "Sum: dim: got -9223372036854775808, want an axis of x, of shape (2, 3)"},
		{call: call(one(over(0)), b.f()), want: "Sum: dim: got 0, want an axis of x, of shape ()"},
		{call: call(one(over(0, 1, 0)), b.f(2, 3)), want: "Sum: dim: got [0 1 0], want every axis once"},
		{call: call(one(over(1, -1)), b.f(2, 3)), want: "Sum: dim: got [1 -1], want every axis once"},
		{call: call(one(over(0)), b.f(2, 0)), want: "Sum: x: shape (2, 0), want every axis at least 1"},
		{call: call(one(func(x *G.Node) (*G.Node, error) {
			return graph.ArgMax(x, graph.ReduceConfig{Dim: []int{0, 1}})
		}), b.f(2, 3)), want: "ArgMax: dim: got [0 1], want one axis, or none for all"},
	})
}
