package stock

import (
	"math"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
)

// A unaryRow computes y from x, element by element; y may be x. A kernel shares the work itself.
type unaryRow[F kernel.Float] struct {
	kernel func(y, x []F)
	loop   func(y, x []F)
}

// unaries returns the rows by the op's text.
func unaries[F kernel.Float]() map[string]unaryRow[F] {
	return map[string]unaryRow[F]{
		"abs":     {loop: each(func(x F) F { return F(math.Abs(float64(x))) })},
		"sign":    {loop: each(sign[F])},
		"ceil":    {loop: each(func(x F) F { return F(math.Ceil(float64(x))) })},
		"floor":   {loop: each(func(x F) F { return F(math.Floor(float64(x))) })},
		"sin":     {loop: each(func(x F) F { return F(math.Sin(float64(x))) })},
		"cos":     {loop: each(func(x F) F { return F(math.Cos(float64(x))) })},
		"exp":     {kernel: kernel.Exp[F]},
		"ln":      {loop: each(func(x F) F { return F(math.Log(float64(x))) })},
		"log2":    {loop: each(func(x F) F { return F(math.Log2(float64(x))) })},
		"neg":     {kernel: func(y, x []F) { kernel.Scale(y, x, -1) }},
		"square":  {kernel: func(y, x []F) { kernel.Mul(y, x, x) }},
		"sqrt":    {loop: each(func(x F) F { return F(math.Sqrt(float64(x))) })},
		"inv":     {loop: each(func(x F) F { return 1 / x })},
		"invSqrt": {loop: each(func(x F) F { return F(1 / math.Sqrt(float64(x))) })},
		"cube":    {loop: each(func(x F) F { return x * x * x })},
		"tanh":    {kernel: kernel.Tanh[F]},
		"sigmoid": {kernel: kernel.Sigmoid[F]},
		"log1p":   {loop: each(func(x F) F { return F(math.Log1p(float64(x))) })},
		"expm1":   {loop: each(func(x F) F { return F(math.Expm1(float64(x))) })},
		// log(1 + eˣ) = max(x, 0) + log(1 + e^−|x|), which never overflows.
		"softplus": {loop: each(func(x F) F {
			return F(math.Max(float64(x), 0) + math.Log1p(math.Exp(-math.Abs(float64(x)))))
		})},
	}
}

// sign returns −1 for a negative x, else 1: Gorgonia's sign of 0 is 1, of −0 it is −1.
func sign[F kernel.Float](x F) F {
	return F(math.Copysign(1, float64(x)))
}

// each returns the loop of a function of one element.
func each[F kernel.Float](f func(F) F) func(y, x []F) {
	return func(y, x []F) {
		for i, v := range x {
			y[i] = f(v)
		}
	}
}

// unary returns an op of one input, element by element.
func unary[F kernel.Float](c call) *Op {
	row, ok := unaries[F]()[c.text]
	switch {
	case !ok || !isFloat[F](c.node):
		return nil
	case row.kernel != nil:
		return computes(Kernel, []int{0}, func(out G.Value, in []G.Value) { row.kernel(floats[F](out), floats[F](in[0])) })
	}
	var y, x []F
	part := func(lo, hi int) { row.loop(y[lo:hi], x[lo:hi]) } // made once: a run allocates nothing
	return computes(Loop, []int{0}, func(out G.Value, in []G.Value) {
		y, x = floats[F](out), floats[F](in[0])
		kernel.Parallel(len(y), loopGrain, part)
	})
}

// loopGrain is the number of elements worth a goroutine.
const loopGrain = 1 << 12
