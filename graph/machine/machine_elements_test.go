package machine_test

import (
	"math"
	"strings"

	"attention/internal/golden"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// element computes an element-wise op. A single number is repeated to the length of the other input.
func (o *naive) element(n *G.Node, text string, in []G.Value) G.Value {
	word, _, _ := strings.Cut(text, " ")
	f, ok := formulas[word]
	require.True(o.t, ok, text)
	x, y := numbers(in[0]), numbers(in[len(in)-1])
	z := make([]float64, max(len(x), len(y)))
	for i := range z {
		a, b := x[i%len(x)], y[i%len(y)]
		z[i] = f(a, b)
		switch word {
		case "sign", "abs":
			o.close(word, 0, a)
		case "ceil", "floor":
			o.close(word, math.Round(a), a)
		case "<", ">", "<=", ">=", "==", "!=":
			o.close(word, a, b)
		}
	}
	return tensor.New(tensor.WithBacking(z))
}

// formulas are the element-wise ops of x and y, or of x alone.
var formulas = map[string]func(x, y float64) float64{
	"abs":      func(x, _ float64) float64 { return math.Abs(x) },
	"sign":     func(x, _ float64) float64 { return truth(x > 0) - truth(x < 0) },
	"ceil":     func(x, _ float64) float64 { return math.Ceil(x) },
	"floor":    func(x, _ float64) float64 { return math.Floor(x) },
	"sin":      func(x, _ float64) float64 { return math.Sin(x) },
	"cos":      func(x, _ float64) float64 { return math.Cos(x) },
	"exp":      func(x, _ float64) float64 { return math.Exp(x) },
	"ln":       func(x, _ float64) float64 { return math.Log(x) },
	"log2":     func(x, _ float64) float64 { return math.Log2(x) },
	"neg":      func(x, _ float64) float64 { return -x },
	"square":   func(x, _ float64) float64 { return x * x },
	"sqrt":     func(x, _ float64) float64 { return math.Sqrt(x) },
	"inv":      func(x, _ float64) float64 { return 1 / x },
	"invSqrt":  func(x, _ float64) float64 { return 1 / math.Sqrt(x) },
	"cube":     func(x, _ float64) float64 { return x * x * x },
	"tanh":     func(x, _ float64) float64 { return math.Tanh(x) },
	"sigmoid":  func(x, _ float64) float64 { return 1 / (1 + math.Exp(-x)) },
	"log1p":    func(x, _ float64) float64 { return math.Log1p(x) },
	"expm1":    func(x, _ float64) float64 { return math.Expm1(x) },
	"softplus": func(x, _ float64) float64 { return math.Log1p(math.Exp(x)) },
	"+":        func(x, y float64) float64 { return x + y },
	"-":        func(x, y float64) float64 { return x - y },
	"⊙":        func(x, y float64) float64 { return x * y },
	"÷":        func(x, y float64) float64 { return x / y },
	"^":        math.Pow,
	"<":        func(x, y float64) float64 { return truth(x < y) },
	">":        func(x, y float64) float64 { return truth(x > y) },
	"<=":       func(x, y float64) float64 { return truth(x <= y) },
	">=":       func(x, y float64) float64 { return truth(x >= y) },
	"==":       func(x, y float64) float64 { return truth(x == y) },
	"!=":       func(x, y float64) float64 { return truth(x != y) },
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// batchNorm computes batch normalisation of x in training with ε = 0.1. Given the gradient of the result, it computes
// the gradient of x instead, by the chain rule through mean and variance.
func (o *naive) batchNorm(in []G.Value) G.Value {
	x, shape := numbers(in[0]), in[0].Shape()
	y := make([]float64, len(x))
	inner := tensor.Shape(shape[2:]).TotalSize()
	for channel := range shape[1] {
		var at []int
		for i := range x {
			if i/inner%shape[1] == channel {
				at = append(at, i)
			}
		}
		n, mean, variance := float64(len(at)), 0.0, 0.0
		for _, i := range at {
			mean += x[i] / n
		}
		for _, i := range at {
			variance += (x[i] - mean) * (x[i] - mean) / n
		}
		s := math.Sqrt(variance + 0.1)
		for _, i := range at {
			y[i] = (x[i] - mean) / s
		}
		if len(in) == 1 {
			continue
		}
		up, dVariance, dMean := numbers(in[1]), 0.0, 0.0
		for _, i := range at {
			dVariance -= up[i] * (x[i] - mean) / (2 * s * s * s)
			dMean -= up[i] / s
		}
		for _, i := range at {
			y[i] = up[i]/s + dVariance*2*(x[i]-mean)/n + dMean/n
		}
	}
	return golden.Dense(tensor.Float64, y, shape...)
}
