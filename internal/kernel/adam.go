package kernel

import (
	"math"

	"attention/internal/parallel"
)

// The solvers round after every operation, on every processor: a step gives the same bits everywhere.

// AdamConstants are the constants of one step of Adam or AdamW, for a whole parameter. Assembly reads the fields
// in this order.
type AdamConstants[F Float] struct {
	Keep         F // AdamW: 1 − lr·λ; Adam: 1
	Decay        F // Adam: λ; AdamW: 0
	Beta1, Rest1 F // β₁ and 1 − β₁
	Beta2, Rest2 F // β₂ and 1 − β₂
	Rate         F // lr / (1 − β₁ᵗ)
	Root         F // √(1 − β₂ᵗ)
	Eps          F
}

// Adam does a step of Adam or AdamW, which differ in where the decay goes:
//
//	value = keep·value                      AdamW's decay
//	d = grad + λ·value                      Adam's decay
//	m = β₁·m + (1 − β₁)·d
//	v = β₂·v + (1 − β₂)·d·d
//	value = value − rate·m / (√v / root + eps)
func Adam[F Float](value, grad, m, v []F, k AdamConstants[F]) {
	fit("adam", len(value), len(grad), len(m), len(v))
	parallel.Do(adamCall[F]{value, grad, m, v, k}, len(value), grainSlow)
}

type adamCall[F Float] struct {
	value, grad, m, v []F
	constants         AdamConstants[F]
}

func (c adamCall[F]) Do(lo, hi int) {
	adam(chosenPath, c.value[lo:hi], c.grad[lo:hi], c.m[lo:hi], c.v[lo:hi], &c.constants)
}

func adamGo[F Float](value, grad, m, v []F, k *AdamConstants[F]) {
	grad, m, v = grad[:len(value)], m[:len(value)], v[:len(value)]
	c := *k
	for i := range value {
		p := F(c.Keep * value[i])
		d := grad[i] + F(c.Decay*p)
		mi := F(c.Beta1*m[i]) + F(c.Rest1*d)
		vi := F(c.Beta2*v[i]) + F(F(c.Rest2*d)*d)
		m[i], v[i] = mi, vi
		value[i] = p - F(c.Rate*mi)/(F(math.Sqrt(float64(vi)))/c.Root+c.Eps)
	}
}

// SGD does a step of SGD without momentum:
//
//	d = grad + λ·value
//	value = value − lr·d
func SGD[F Float](value, grad []F, lr, decay F) {
	fit("sgd", len(value), len(grad))
	parallel.Do(sgdCall[F]{value, grad, lr, decay}, len(value), grainFast)
}

type sgdCall[F Float] struct {
	value, grad []F
	lr, decay   F
}

func (c sgdCall[F]) Do(lo, hi int) { sgd(chosenPath, c.value[lo:hi], c.grad[lo:hi], c.lr, c.decay) }

func sgdGo[F Float](value, grad []F, rate, decay F) {
	grad = grad[:len(value)]
	for i, v := range value {
		d := grad[i] + F(decay*v)
		value[i] = v - F(rate*d)
	}
}

// Momentum does a step of SGD with momentum μ:
//
//	d = grad + λ·value
//	buffer = μ·buffer + d
//	value = value − lr·buffer
func Momentum[F Float](value, grad, buffer []F, lr, momentum, decay F) {
	fit("momentum", len(value), len(grad), len(buffer))
	parallel.Do(momentumCall[F]{value, grad, buffer, lr, momentum, decay}, len(value), grainFast)
}

type momentumCall[F Float] struct {
	value, grad, buffer []F
	lr, momentum, decay F
}

func (c momentumCall[F]) Do(lo, hi int) {
	momentum(chosenPath, c.value[lo:hi], c.grad[lo:hi], c.buffer[lo:hi], c.lr, c.momentum, c.decay)
}

func momentumGo[F Float](value, grad, buffer []F, rate, momentum, decay F) {
	grad, buffer = grad[:len(value)], buffer[:len(value)]
	for i, v := range value {
		d := grad[i] + F(decay*v)
		b := F(momentum*buffer[i]) + d
		buffer[i] = b
		value[i] = v - F(rate*b)
	}
}
