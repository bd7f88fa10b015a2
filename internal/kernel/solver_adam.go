package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// The solvers round after every operation, on every processor: a step gives the same bits everywhere.

// Adam makes a step of Adam or AdamW, which differ in the place of the decay:
//
//	value = keep·value                      AdamW's decay
//	d = grad + λ·value                      Adam's decay
//	m = β₁·m + (1 − β₁)·d
//	v = β₂·v + (1 − β₂)·d·d
//	value = value − rate·m / (√v / root + eps)
func Adam[F Float](value, grad, m, v []F, k simd.AdamConstants[F]) {
	fit("adam", len(value), len(grad), len(m), len(v))
	parallel.Do(adamCall[F]{value, grad, m, v, k}, len(value), grainSlow)
}

type adamCall[F Float] struct {
	value, grad, m, v []F
	constants         simd.AdamConstants[F]
}

func (c adamCall[F]) Do(lo, hi int) {
	simd.Adam(c.value[lo:hi], c.grad[lo:hi], c.m[lo:hi], c.v[lo:hi], &c.constants)
}

// SGD makes a step of SGD without momentum:
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

func (c sgdCall[F]) Do(lo, hi int) { simd.SGD(c.value[lo:hi], c.grad[lo:hi], c.lr, c.decay) }

// Momentum makes a step of SGD with momentum μ:
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
	simd.Momentum(c.value[lo:hi], c.grad[lo:hi], c.buffer[lo:hi], c.lr, c.momentum, c.decay)
}
