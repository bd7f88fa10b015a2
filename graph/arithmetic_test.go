package graph_test

import (
	"math"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

func add(in G.Nodes) (*G.Node, error) { return graph.Add(in[0], in[1]) }
func mul(in G.Nodes) (*G.Node, error) { return graph.Mul(in[0], in[1]) }

func arithmeticCases() []opCase {
	var cases []opCase
	for _, f := range []struct {
		name string
		op   func(x, y *G.Node) (*G.Node, error)
		of   func(x, y float64) float64
	}{
		{name: "add", op: graph.Add, of: func(x, y float64) float64 { return x + y }},
		{name: "sub", op: graph.Sub, of: func(x, y float64) float64 { return x - y }},
		{name: "mul", op: graph.Mul, of: func(x, y float64) float64 { return x * y }},
		{name: "div", op: graph.Div, of: func(x, y float64) float64 { return x / y }},
	} {
		op := func(in G.Nodes) (*G.Node, error) { return f.op(in[0], in[1]) }
		for _, c := range []struct {
			name string
			x, y s
		}{
			{name: "", x: s{2, 3, 5}, y: s{2, 3, 5}},
			{name: "_bias", x: s{2, 3, 5}, y: s{5}},
			{name: "_positions", x: s{2, 3, 5}, y: s{3, 5}},
			{name: "_columns", x: s{2, 3, 5}, y: s{3, 1}},
			{name: "_first", x: s{5}, y: s{2, 3, 5}},
			{name: "_both", x: s{3, 1, 7}, y: s{2, 1, 5, 1}},
			{name: "_scalar", x: s{2, 3}},
			{name: "_of_scalar", y: s{2, 3}},
			{name: "_scalars"},
			{name: "_one", x: s{1, 1}, y: s{1}},
		} {
			cases = append(cases, opCase{name: f.name + c.name, op: op, in: shapes(c.x, c.y),
				want: func(in []array) array {
					return naiveBroadcast(in, func(v []float64) float64 { return f.of(v[0], v[1]) })
				}})
		}
	}
	return cases
}

// naiveBroadcast applies f to the elements of arrays that are repeated to one shape.
func naiveBroadcast(in []array, f func(v []float64) float64) array {
	var shape []int
	for _, a := range in {
		for len(shape) < len(a.shape) {
			shape = append([]int{1}, shape...)
		}
		for i, n := range a.shape {
			at := i + len(shape) - len(a.shape)
			shape[at] = max(shape[at], n)
		}
	}
	z := zeros(shape...)
	z.shape = shape
	for i := range z.v {
		var v []float64
		for _, a := range in {
			at, step, rest := 0, 1, i
			for k := 1; k <= len(shape); k++ {
				index := rest % shape[len(shape)-k]
				rest /= shape[len(shape)-k]
				if k <= len(a.shape) && a.axis(-k) > 1 {
					at += index * step
					step *= a.axis(-k)
				}
			}
			v = append(v, a.v[at])
		}
		z.v[i] = f(v)
	}
	return z
}

// Division by 0 and non-finite numbers give the results of torch.
func TestDivisionByZero(t *testing.T) {
	for _, p := range tolerances {
		x, y := of([]float64{1, -1, 0, inf, nan}), of([]float64{0})
		in := inputs(x, y)
		e := express(t, func(in G.Nodes) (*G.Node, error) { return graph.Div(in[0], in[1]) }, in, p.dt)
		near(t, "x/0", of([]float64{inf, -inf, nan, inf, nan}), e.onOurs(t).out, 0)
	}
}

// The gradient of a number that is added to millions of elements, or multiplied by them, is an exact sum.
func TestGradientOfARepeatedNumber(t *testing.T) {
	const n = 1_500_000
	for name, op := range map[string]func(x, y *G.Node) (*G.Node, error){"Add": graph.Add, "Mul": graph.Mul} {
		x := zeros(n)
		want := 0.0
		for i := range x.v {
			x.v[i] = float64(float32(1 + 0.1*math.Sin(float64(i))))
			want += x.v[i]
		}
		in, dz := inputs(x, array{v: []float64{3}}), zeros(n)
		for i := range dz.v {
			dz.v[i] = 1
			if name == "Add" {
				dz.v[i] = x.v[i]
			}
		}
		e := express(t, func(in G.Nodes) (*G.Node, error) { return op(in[0], in[1]) }, in, tolerances[1].dt)
		e.differentiate(t, in, dz, tolerances[1].dt)
		require.InEpsilon(t, want, e.onOurs(t).grads[1].v[0], 1e-7, name)
	}
}
