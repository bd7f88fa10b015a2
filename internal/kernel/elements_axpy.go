package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// Axpy computes y ← α·x + y for x and y of one length. With α = 0, y is unchanged.
func Axpy[F Float](alpha F, x, y []F) {
	fit("axpy", len(x), len(y))
	if alpha != 0 {
		parallel.Do(axpyCall[F]{alpha, x, y}, len(x), grainFast)
	}
}

type axpyCall[F Float] struct {
	alpha F
	x, y  []F
}

func (c axpyCall[F]) Do(lo, hi int) {
	one := [1]F{1}
	simd.AddOuter(1, hi-lo, 0, c.alpha, c.y[lo:hi], one[:], c.x[lo:hi])
}
