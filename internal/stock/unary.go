package stock

import (
	"math"
	"slices"

	"attention/internal/kernel"
)

// unaryKernels maps the texts of ops to functions of a number for which there is a kernel.
var unaryKernels = map[string]kernel.Function{
	"abs": kernel.Abs, "sign": kernel.Sign, "ceil": kernel.Ceil, "floor": kernel.Floor, "sqrt": kernel.Sqrt,
	"inv": kernel.Inverse, "invSqrt": kernel.InverseSqrt, "square": kernel.Square, "cube": kernel.Cube,
	"neg": kernel.Multiple, "ln": kernel.Log, "exp": kernel.Exp, "tanh": kernel.Tanh, "sigmoid": kernel.Sigmoid,
}

// loopFunctions are the functions that package kernel computes in plain Go.
var loopFunctions = []kernel.Function{kernel.Abs, kernel.Sign, kernel.Ceil, kernel.Floor, kernel.Sqrt,
	kernel.InverseSqrt, kernel.Cube, kernel.Log}

// unaryLoops lists the functions that no kernel computes. They are computed in float64.
var unaryLoops = map[string]func(x float64) float64{
	"sin": math.Sin, "cos": math.Cos, "log2": math.Log2, "log1p": math.Log1p, "expm1": math.Expm1,
	// log(1 + eˣ) = max(x, 0) + log(1 + e^−|x|), which never overflows.
	"softplus": func(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) },
}

// unary returns an op of one input, element by element.
func unary[F kernel.Float](c call) *Op {
	if !isFloat[F](c.node) {
		return nil
	}
	if f, ok := unaryKernels[c.text]; ok {
		by := Kernel
		if slices.Contains(loopFunctions, f) {
			by = Loop
		}
		negative := kernel.Settings{-1} // which neg alone reads
		return computes(by, []int{0}, func(y []F, x [][]F) { kernel.Apply(f, negative, y, x[0]) })
	}
	f, ok := unaryLoops[c.text]
	if !ok {
		return nil
	}
	return loops([]int{0}, c.node.Shape().TotalSize(), loopGrain, func(y []F, x [][]F, lo, hi int) {
		var room [inFloat64]float64
		for ; lo < hi; lo += inFloat64 {
			for i, v := range widen(room[:], x[0][lo:hi]) {
				y[lo+i] = F(f(v))
			}
		}
	})
}

// loopGrain is the number of elements worth a goroutine.
const loopGrain = 1 << 12

// inFloat64 is how many elements are converted at a time. Converting single elements would make each conversion wait
// for the function of the element before, whose result is in its register.
const inFloat64 = 1 << 8

// widen converts as many elements of x as fit.
func widen[F kernel.Float](room []float64, x []F) []float64 {
	x = x[:min(len(room), len(x))]
	for i, v := range x {
		room[i] = float64(v)
	}
	return room[:len(x)]
}
