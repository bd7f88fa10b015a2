package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func rootNormCases() []opCase {
	return []opCase{
		{name: "rms_norm", op: rmsNorm, want: naiveRMSNorm, in: shapes(s{2, 3, 7}, s{7})},
		{name: "rms_norm_heads", op: rmsNorm, want: naiveRMSNorm, in: shapes(s{2, 5, 21}, s{7})},
		{name: "rms_norm_vector", op: rmsNorm, want: naiveRMSNorm, in: shapes(s{7}, s{7})},
		{name: "rms_norm_width_one", op: rmsNorm, want: naiveRMSNorm, in: shapes(s{2, 3}, s{1})},
		{name: "l2_norm", op: l2Norm, want: naiveL2Norm, in: shapes(s{2, 3, 7}, s{7})},
		{name: "l2_norm_heads", op: l2Norm, want: naiveL2Norm, in: shapes(s{2, 5, 21}, s{7})},
		{name: "l2_norm_vector", op: l2Norm, want: naiveL2Norm, in: shapes(s{7}, s{7})},
	}
}

func rmsNorm(in G.Nodes) (*G.Node, error) { return graph.RMSNorm(in[0], in[1], 1e-5) }

func l2Norm(in G.Nodes) (*G.Node, error) { return graph.L2Norm(in[0], in[1], 1e-3) }

func naiveRMSNorm(in []array) array {
	return naiveDivide(in, func(squares, n float64) float64 { return math.Sqrt(squares/n + 1e-5) })
}

func naiveL2Norm(in []array) array {
	return naiveDivide(in, func(squares, _ float64) float64 { return max(math.Sqrt(squares), 1e-3) })
}

// naiveDivide divides each run of as many elements as the weight has by the result of by for the sum of their squares.
func naiveDivide(in []array, by func(squares, n float64) float64) array {
	x, weight, y := in[0], in[1], in[0].like()
	n := len(weight.v)
	for i := range x.v {
		squares := 0.0
		for j := range n {
			v := x.v[i/n*n+j]
			squares += v * v
		}
		y.v[i] = x.v[i] / by(squares, float64(n)) * weight.v[i%n]
	}
	return y
}

// Heads that are side by side are normalised like separate ones.
func TestHeadsAreNormalisedAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x, weight := normal(r, 2, 5, 21), normal(r, 7)
	for name, norm := range map[string]func(in G.Nodes) (*G.Node, error){"RMSNorm": rmsNorm, "L2Norm": l2Norm} {
		together := compute(t, norm, x, weight)
		apart := compute(t, norm, naiveSplitHeads(x, 3), weight)
		require.Equal(t, bits(naiveMergeHeads(apart)), bits(together), name)
	}
}

// Rows of any size: a row of zeros, or one whose squares exceed float32, does not divide by zero, and a NaN stays in
// its row.
func TestNormsOfExtremeRows(t *testing.T) {
	x := of([]float64{0, 0, 0, 1e30, -1e30, 2e30, 1e-30, 0, 1e-30, nan, 1, 2, 3, 4, 5}, 5, 3)
	dout, weight := of([]float64{1, 2, -3, 1, 2, -3, 1, 2, -3, 1, 2, -3, 1, 2, -3}, 5, 3), of([]float64{1, -2, 0.5})
	for _, name := range []string{"LayerNorm", "RMSNorm", "L2Norm"} {
		for _, p := range tolerances {
			in := inputs(x, weight)
			e := express(t, func(in G.Nodes) (*G.Node, error) { return normBy(name, 1e-6)(in[0], in[1]) }, in, p.dt)
			e.differentiate(t, in, dout, p.dt)
			got := e.onOurs(t)
			for i := range x.v {
				bad := i/3 == 3
				require.Equal(t, bad, math.IsNaN(got.out.v[i]), "%s %v: y[%d] is %v", name, p.dt, i, got.out.v[i])
				require.Equal(t, bad, math.IsNaN(got.grads[0].v[i]), "%s %v: dx[%d] is %v", name, p.dt, i, got.grads[0].v[i])
			}
		}
	}
}

// The gradient of a vector shorter than eps is that of x/eps.
func TestL2NormBelowEps(t *testing.T) {
	in := inputs(of([]float64{1e-4, -2e-4, 0}, 1, 3), of([]float64{1, 2, 3}))
	e := express(t, l2Norm, in, tensor.Float64)
	e.differentiate(t, in, of([]float64{1, 1, -1}, 1, 3), tensor.Float64)
	got := e.onOurs(t)
	near(t, "y", of([]float64{0.1, -0.4, 0}, 1, 3), got.out, 1e-12)
	near(t, "dx", of([]float64{1000, 2000, -3000}, 1, 3), got.grads[0], 1e-12)
	near(t, "dweight", of([]float64{0.1, -0.2, 0}), got.grads[1], 1e-12)
}

func TestWrongNormsAreRefused(t *testing.T) {
	b := bench{G.NewGraph()}
	layer := three(layerNormBy)
	list := []refusal{
		{call: call(layer, b.f(), b.f(3), nil), want: "LayerNorm: x: shape (), want (…, E)"},
		{call: call(layer, b.f(2, 3), b.f(2), nil), want: "LayerNorm: weight: shape (2), want (E=3)"},
		{call: call(layer, b.f(2, 3), b.f(2, 3), nil), want: "LayerNorm: weight: shape (2, 3), want (E=3)"},
		{call: call(layer, b.f(2, 3), b.f(3), b.f(1)), want: "LayerNorm: bias: shape (1), want (E=3)"},
	}
	for _, name := range []string{"RMSNorm", "L2Norm"} {
		op := two(normBy(name, 1e-5))
		list = append(list,
			refusal{call: call(op, b.f(), b.f(3)), want: name + ": x: shape (), want (…, n·D) with D=3"},
			refusal{call: call(op, b.f(2, 7), b.f(3)), want: name + ": x: shape (2, 7), want (…, n·D) with D=3"},
			refusal{call: call(op, b.f(2, 3), b.f(2, 3)), want: name + ": weight: shape (2, 3), want (D)"},
			refusal{call: call(op, b.f(2, 3), b.f()), want: name + ": weight: shape (), want (D)"})
	}
	for _, name := range []string{"LayerNorm", "RMSNorm", "L2Norm"} {
		for _, eps := range []float64{0, -1e-5, nan, inf} {
			list = append(list, refusal{call: call(two(normBy(name, eps)), b.f(2, 3), b.f(3)),
				want: fmt.Sprintf("%s: eps: got %v, want a finite number above 0", name, eps)})
		}
	}
	refuseAll(t, list)
}

// normBy returns the norm with a name, without a bias.
func normBy(name string, eps float64) func(x, weight *G.Node) (*G.Node, error) {
	return func(x, weight *G.Node) (*G.Node, error) {
		switch name {
		case "RMSNorm":
			return graph.RMSNorm(x, weight, eps)
		case "L2Norm":
			return graph.L2Norm(x, weight, eps)
		}
		return graph.LayerNorm(x, weight, nil, eps)
	}
}
