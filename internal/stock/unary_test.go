package stock_test

import (
	"fmt"
	"math"
	"testing"

	tensors "attention/internal/dense"
	"attention/internal/stock"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A unaryCase is one of Gorgonia's functions of a number.
type unaryCase struct {
	build    func(x *G.Node) (*G.Node, error)
	of       func(x float64) float64
	by       stock.By
	positive bool // the function is not defined elsewhere
	noGrad   bool
}

func unaries() map[string]unaryCase {
	return map[string]unaryCase{
		"Abs":     {build: G.Abs, of: math.Abs, by: stock.Loop},
		"Sign":    {build: G.Sign, of: signOf, by: stock.Loop, noGrad: true},
		"Ceil":    {build: G.Ceil, of: math.Ceil, by: stock.Loop, noGrad: true},
		"Floor":   {build: G.Floor, of: math.Floor, by: stock.Loop, noGrad: true},
		"Sin":     {build: G.Sin, of: math.Sin, by: stock.Loop},
		"Cos":     {build: G.Cos, of: math.Cos, by: stock.Loop},
		"Exp":     {build: G.Exp, of: math.Exp, by: stock.Kernel},
		"Log":     {build: G.Log, of: logOf, by: stock.Loop, positive: true},
		"Log2":    {build: G.Log2, of: math.Log2, by: stock.Loop, positive: true},
		"Neg":     {build: G.Neg, of: func(x float64) float64 { return -x }, by: stock.Kernel},
		"Square":  {build: G.Square, of: func(x float64) float64 { return x * x }, by: stock.Kernel},
		"Sqrt":    {build: G.Sqrt, of: math.Sqrt, by: stock.Loop, positive: true},
		"Inverse": {build: G.Inverse, of: func(x float64) float64 { return 1 / x }, by: stock.Kernel},
		"InverseSqrt": {
			build: G.InverseSqrt, of: func(x float64) float64 { return 1 / math.Sqrt(x) }, by: stock.Loop, positive: true,
		},
		"Cube":    {build: G.Cube, of: func(x float64) float64 { return x * x * x }, by: stock.Loop},
		"Tanh":    {build: G.Tanh, of: math.Tanh, by: stock.Kernel},
		"Sigmoid": {build: G.Sigmoid, of: func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, by: stock.Kernel},
		"Log1p":   {build: G.Log1p, of: math.Log1p, by: stock.Loop, positive: true},
		"Expm1":   {build: G.Expm1, of: math.Expm1, by: stock.Loop},
		"Softplus": {
			build: G.Softplus, by: stock.Loop,
			of: func(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) },
		},
	}
}

// signOf is 1 with the sign of x, or x if that is 0, −0 or NaN.
func signOf(x float64) float64 {
	if x == 0 || math.IsNaN(x) {
		return x
	}
	return math.Copysign(1, x)
}

// logOf is math.Log, which is wrong for subnormal numbers on amd64.
func logOf(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p52) - 52*math.Ln2
	}
	return math.Log(x)
}

func TestUnary(t *testing.T) {
	var cases []stockCase
	for name, c := range unaries() {
		for _, shape := range []tensor.Shape{{}, {1}, {5}, {3, 4}, {1, 4}, {2, 1, 3, 2}, {70, 300}} {
			cases = append(cases, stockCase{
				name: fmt.Sprint(name, shape), shapes: []tensor.Shape{shape}, by: c.by, noGrad: c.noGrad,
				build: func(in G.Nodes) (*G.Node, error) {
					if c.positive {
						return c.build(G.Must(G.Square(in[0])))
					}
					return c.build(in[0])
				},
			})
		}
	}
	checkAll(t, cases)
}

// extremes are numbers at which a function may be undefined, infinite or 0.
var extremes = []float64{
	0, math.Copysign(0, -1), 1e-45, -1e-45, 1e-38, -1e-38, 0.5, -0.5, 1, -1, 2, -2, 20, -20, 1e4, -1e4, 3e38, -3e38,
	math.Inf(1), math.Inf(-1), math.NaN(),
}

// A function gives the zeros, the infinities and the NaNs of package math.
func TestUnaryOfExtremes(t *testing.T) {
	for name, c := range unaries() {
		for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			g := G.NewGraph()
			x := G.NewVector(g, dt, G.WithShape(len(extremes)), G.WithName("x"))
			v := dense(dt, extremes, len(extremes))
			y := tensors.Float64s(evaluate(t, G.Must(c.build(x)), map[*G.Node]G.Value{x: v}))
			for i, x := range tensors.Float64s(v) {
				want := rounded(dt, c.of(x))
				requireLike(t, dt, want, y[i], "%s of %v", name, x)
			}
		}
	}
}

func rounded(dt tensor.Dtype, x float64) float64 {
	if dt == tensor.Float32 {
		return float64(float32(x))
	}
	return x
}

// requireLike requires the same zero, infinity or NaN, or a number that is close.
func requireLike(t *testing.T, dt tensor.Dtype, want, got float64, what string, args ...any) {
	t.Helper()
	if want == 0 || math.IsInf(want, 0) || math.IsNaN(want) {
		require.Equal(t, fmt.Sprint(want), fmt.Sprint(got), append([]any{what}, args...)...)
		return
	}
	eps := 1e-14
	if dt == tensor.Float32 {
		eps = 3e-7
	}
	require.InEpsilon(t, want, got, eps, append([]any{what}, args...)...)
}
