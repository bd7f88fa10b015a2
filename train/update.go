package train

import (
	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// This file holds everything that is done to the elements of a parameter. The
// kernels work on plain slices of one length, in the elements' own dtype, and
// keep the order of PyTorch's single-tensor formulas, so that results agree to
// rounding.

type float interface{ float32 | float64 }

// elements returns the data behind a contiguous tensor of F, not a copy.
func elements[F float](d *tensor.Dense) []F {
	var zero F
	if _, ok := any(zero).(float32); ok {
		return any(d.Float32s()).([]F)
	}
	return any(d.Float64s()).([]F)
}

// sgdUpdate is SGD without momentum:
//
//	d = grad + λ·value
//	value = value − lr·d
func sgdUpdate[F float](value, grad []F, lr, decay F) {
	kernel.SGD(value, grad[:len(value)], lr, decay)
}

// sgdMomentumUpdate is SGD with momentum μ:
//
//	d = grad + λ·value
//	buffer = μ·buffer + d
//	value = value − lr·buffer
func sgdMomentumUpdate[F float](value, grad, buffer []F, lr, momentum, decay F) {
	kernel.Momentum(value, grad[:len(value)], buffer[:len(value)], lr, momentum, decay)
}

// adamConstants are what one step of Adam or AdamW takes for a whole parameter.
type adamConstants[F float] struct {
	keep         F // AdamW: 1 − lr·λ; Adam: 1
	decay        F // Adam: λ; AdamW: 0
	beta1, rest1 F // β₁ and 1 − β₁
	beta2, rest2 F // β₂ and 1 − β₂
	rate         F // lr / (1 − β₁ᵗ)
	root         F // √(1 − β₂ᵗ)
	eps          F
}

// adamUpdate is Adam, and AdamW, which differ in where the decay goes:
//
//	value = keep·value                      AdamW's decay
//	d = grad + λ·value                      Adam's decay
//	m = β₁·m + (1 − β₁)·d
//	v = β₂·v + (1 − β₂)·d·d
//	value = value − rate·m / (√v / root + eps)
func adamUpdate[F float](value, grad, m, v []F, k adamConstants[F]) {
	n := len(value)
	kernel.Adam(value, grad[:n], m[:n], v[:n], kernel.AdamConstants[F]{
		Keep: k.keep, Decay: k.decay, Beta1: k.beta1, Rest1: k.rest1, Beta2: k.beta2, Rest2: k.rest2,
		Rate: k.rate, Root: k.root, Eps: k.eps,
	})
}

// sumSquares is Σ x², in float64.
func sumSquares[F float](x []F) float64 { return kernel.SumSquares(x) }

// scale multiplies every element by c.
func scale[F float](x []F, c F) { kernel.Scale(x, x, c) }
