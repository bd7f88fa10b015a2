package train

import (
	"math"

	"gorgonia.org/tensor"
)

// This file holds every loop over the elements of a parameter. The loops work
// on plain slices of one length, in the elements' own dtype, and keep the order
// of PyTorch's single-tensor formulas, so that results agree to rounding.

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
	grad = grad[:len(value)]
	for i, v := range value {
		d := grad[i] + decay*v
		value[i] = v - lr*d
	}
}

// sgdMomentumUpdate is SGD with momentum μ:
//
//	d = grad + λ·value
//	buffer = μ·buffer + d
//	value = value − lr·buffer
func sgdMomentumUpdate[F float](value, grad, buffer []F, lr, momentum, decay F) {
	grad, buffer = grad[:len(value)], buffer[:len(value)]
	for i, v := range value {
		d := grad[i] + decay*v
		b := momentum*buffer[i] + d
		buffer[i] = b
		value[i] = v - lr*b
	}
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
	grad, m, v = grad[:len(value)], m[:len(value)], v[:len(value)]
	for i := range value {
		p := k.keep * value[i]
		d := grad[i] + k.decay*p
		mi := k.beta1*m[i] + k.rest1*d
		vi := k.beta2*v[i] + k.rest2*d*d
		m[i], v[i] = mi, vi
		value[i] = p - k.rate*mi/(F(math.Sqrt(float64(vi)))/k.root+k.eps)
	}
}

// sumSquares is Σ x², in float64.
func sumSquares[F float](x []F) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

// scale multiplies every element by c.
func scale[F float](x []F, c F) {
	for i := range x {
		x[i] *= c
	}
}
