package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

func softcapBy(limit float64) func(x *G.Node) (*G.Node, error) {
	return func(x *G.Node) (*G.Node, error) { return graph.Softcap(x, limit) }
}

func clampTo(low, high float64) func(x *G.Node) (*G.Node, error) {
	return func(x *G.Node) (*G.Node, error) { return graph.Clamp(x, low, high) }
}

func naiveGELU(x float64) float64 { return 0.5 * x * (1 + math.Erf(x/math.Sqrt2)) }

func naiveGELUTanh(x float64) float64 {
	return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

func elementwiseCases() []opCase {
	of := func(f func(x float64) float64) func(in []array) array {
		return each(func(x, _ float64) float64 { return f(x) })
	}
	return []opCase{
		{name: "scale", op: unary(func(x *G.Node) (*G.Node, error) { return graph.Scale(x, 0.3) }),
			want: each(func(x, _ float64) float64 { return 0.3 * x }), in: shapes(s{2, 3, 5})},
		{name: "exp", op: unary(graph.Exp), want: each(func(x, _ float64) float64 { return math.Exp(x) }),
			in: shapes(s{2, 3, 5})},
		{name: "tanh", op: unary(graph.Tanh), want: each(func(x, _ float64) float64 { return math.Tanh(x) }),
			in: shapes(s{2, 3, 5})},
		{name: "tanh_scalar", op: unary(graph.Tanh), want: each(func(x, _ float64) float64 { return math.Tanh(x) }),
			in: shapes(nil)},
		{name: "gelu", op: unary(graph.GELU), want: of(naiveGELU), in: shapes(s{2, 3, 5})},
		{name: "gelu_tanh", op: unary(graph.GELUTanh), want: of(naiveGELUTanh), in: shapes(s{2, 3, 5})},
		{name: "relu_squared", op: unary(graph.ReLUSquared), in: shapes(s{2, 3, 5}),
			want: of(func(x float64) float64 { return math.Max(x, 0) * math.Max(x, 0) })},
		{name: "sigmoid", op: unary(graph.Sigmoid), want: of(func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }),
			in: shapes(s{2, 3, 5})},
		{name: "log_sigmoid", op: unary(graph.LogSigmoid), in: shapes(s{2, 3, 5}),
			want: of(func(x float64) float64 { return -math.Log1p(math.Exp(-x)) })},
		{name: "silu", op: unary(graph.SiLU), want: of(func(x float64) float64 { return x / (1 + math.Exp(-x)) }),
			in: shapes(s{2, 3, 5})},
		{name: "silu_scalar", op: unary(graph.SiLU), want: of(func(x float64) float64 { return x / (1 + math.Exp(-x)) }),
			in: shapes(nil)},
		{name: "clamp", op: unary(clampTo(-0.3, 0.8)), in: shapes(s{2, 3, 5}),
			want: of(func(x float64) float64 { return math.Max(-0.3, math.Min(x, 0.8)) })},
		{name: "clamp_low", op: unary(clampTo(0.1, math.Inf(1))), in: shapes(s{2, 3, 5}),
			want: of(func(x float64) float64 { return math.Max(0.1, x) })},
		{name: "softcap", op: unary(softcapBy(0.7)), want: of(func(x float64) float64 { return 0.7 * math.Tanh(x/0.7) }),
			in: shapes(s{2, 3, 5})},
	}
}

// NaN stays NaN in every activation, and no other number becomes NaN.
func TestActivationsOfExtremeNumbers(t *testing.T) {
	for name, op := range map[string]func(x *G.Node) (*G.Node, error){
		"GELU": graph.GELU, "GELUTanh": graph.GELUTanh, "Sigmoid": graph.Sigmoid, "SiLU": graph.SiLU,
		"LogSigmoid": graph.LogSigmoid,
		"Softcap":    softcapBy(30), "ReLUSquared": graph.ReLUSquared,
		"SwiGLU":    func(x *G.Node) (*G.Node, error) { return graph.SwiGLU(x, x) },
		"GeGLU":     func(x *G.Node) (*G.Node, error) { return graph.GeGLU(x, x) },
		"GeGLUTanh": func(x *G.Node) (*G.Node, error) { return graph.GeGLUTanh(x, x) },
	} {
		x := of([]float64{nan, 1e30, -1e30, 100, -100, 0})
		if strings.HasSuffix(name, "GLU") || strings.HasSuffix(name, "GLUTanh") || name == "ReLUSquared" {
			x.v[1], x.v[2] = 1e15, -1e15 // x² fits into float32
		}
		for _, p := range tolerances {
			y, dx := through(t, op, x, of([]float64{1, 1, 1, 1, 1, 1}), p.dt)
			for i, v := range x.v {
				require.Equal(t, math.IsNaN(v), math.IsNaN(y.v[i]), "%s of %v: %v", name, v, y.v[i])
				require.Equal(t, math.IsNaN(v), math.IsNaN(dx.v[i]), "slope of %s at %v: %v", name, v, dx.v[i])
				infinite := math.IsInf(y.v[i], 0) || math.IsInf(dx.v[i], 0)
				require.False(t, infinite, "%s of %v: %v, slope %v", name, v, y.v[i], dx.v[i])
			}
		}
	}
}

// Softcap never exceeds ±cap, and its slope there is 0.
func TestSoftcapStaysBelowItsCap(t *testing.T) {
	for _, p := range tolerances {
		x := of([]float64{1e30, -1e30, 1e4, 200, -200, 1e-6})
		y, dx := through(t, softcapBy(30), x, of([]float64{1, 1, 1, 1, 1, 1}), p.dt)
		require.Equal(t, []float64{30, -30, 30}, y.v[:3])
		require.Equal(t, []float64{0, 0, 0}, dx.v[:3])
		near(t, "y", of([]float64{30 * math.Tanh(200.0/30), -30 * math.Tanh(200.0/30), 1e-6}), of(y.v[3:]), p.tol)
		slope := math.Pow(math.Cosh(200.0/30), -2)
		near(t, "dx", of([]float64{slope, slope, 1}), of(dx.v[3:]), p.tol)
	}
}

// Negative numbers and both zeros become 0 and pass no gradient; NaN stays NaN; on both machines, into memory that
// holds anything. The sizes are below and above the size from which several goroutines share the work.
func TestReLU(t *testing.T) {
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1e-30, -1e-30}
	for _, n := range []int{len(special), 70001} {
		for _, p := range tolerances {
			r := rand.New(rand.NewPCG(1, 2))
			x, dout := normal(r, n), normal(r, n)
			copy(x.v, special)
			for i, v := range x.v { // exact in either type
				x.v[i], dout.v[i] = float64(float32(v)), float64(float32(dout.v[i]))
			}
			in := inputs(x)
			e := express(t, unary(graph.ReLU), in, p.dt)
			e.differentiate(t, in, dout, p.dt)
			y, dx := zeros(n), zeros(n)
			for i, v := range x.v {
				if v > 0 || math.IsNaN(v) {
					y.v[i], dx.v[i] = v, dout.v[i]
				}
			}
			for _, got := range []result{e.onOurs(t), e.onTape(t)} {
				require.Equal(t, bits(y), bits(got.out))
				require.Equal(t, bits(dx), bits(got.grads[0]))
			}
			require.Positive(t, overwriteAll(t, e.g))
		}
	}
}

func TestWrongActivationsAreRefused(t *testing.T) {
	b := bench{G.NewGraph()}
	list := []refusal{
		{call: call(two(graph.SwiGLU), b.f(2, 3), b.f(3)), want: "SwiGLU: up: shape (3), want (2, 3)"},
		{call: call(two(graph.SwiGLU), b.f(2, 3), b.f(3, 2)), want: "SwiGLU: up: shape (3, 2), want (2, 3)"},
		{call: call(two(graph.GeGLU), b.f(2, 3), b.f(3)), want: "GeGLU: up: shape (3), want (2, 3)"},
		{call: call(two(graph.GeGLUTanh), b.f(2, 3), b.f(3)), want: "GeGLUTanh: up: shape (3), want (2, 3)"},
	}
	for _, limit := range []float64{0, -30, nan, inf} {
		list = append(list, refusal{call: call(one(softcapBy(limit)), b.f(3)),
			want: fmt.Sprintf("Softcap: cap: got %v, want a finite number above 0", limit)})
	}
	for _, c := range [][2]float64{{1, 0}, {nan, 1}, {0, nan}} {
		list = append(list, refusal{call: call(one(clampTo(c[0], c[1])), b.f(3)),
			want: fmt.Sprintf("Clamp: low, high: got %v and %v, want low <= high", c[0], c[1])})
	}
	refuseAll(t, list)
}

// The gradient is 0 at a limit and beyond it, and for NaN, which stays NaN (PyTorch 2.15.0).
func TestClampAtItsLimits(t *testing.T) {
	x := of([]float64{-inf, -1, -0.5, 0, 2, 3, inf, nan})
	for _, p := range tolerances {
		y, dx := through(t, clampTo(-0.5, 2), x, of([]float64{1, 2, 3, 4, 5, 6, 7, 8}), p.dt)
		near(t, "y", of([]float64{-0.5, -0.5, -0.5, 0, 2, 2, 2, nan}), y, 0)
		require.Equal(t, []float64{0, 0, 0, 4, 0, 0, 0, 0}, dx.v)
	}
}

// naiveEach applies f to every element of x and the element of y beside it; y is repeated over the axes that it lacks.
func naiveEach(x, y array, f func(x, y float64) float64) array {
	z := x.like()
	for i, v := range x.v {
		z.v[i] = f(v, y.v[i%len(y.v)])
	}
	return z
}

// each returns naiveEach as the reference for an op.
func each(f func(x, y float64) float64) func(in []array) array {
	return func(in []array) array { return naiveEach(in[0], in[len(in)-1], f) }
}
