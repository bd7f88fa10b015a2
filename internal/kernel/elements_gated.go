package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// Gated writes f(gate)⊙up to y, all of one length; y may be gate or up. f is SiLU, GELU or GELUTanh (Shazeer,
// arXiv:2002.05202).
func Gated[F Float](f Function, y, gate, up []F) {
	fit("gated", len(gate), len(up), len(y))
	parallel.Do(gatedCall[F]{f, y, gate, up}, len(gate), grainSlow)
}

type gatedCall[F Float] struct {
	f           Function
	y, gate, up []F
}

func (c gatedCall[F]) Do(lo, hi int) {
	var room [simd.Chunk]F
	simd.Chunks(lo, hi, func(lo, hi int) {
		g := room[:hi-lo]
		activate(c.f, g, c.gate[lo:hi])
		simd.Mul(c.y[lo:hi], g, c.up[lo:hi])
	})
}

// activate writes f(x) to y, for an f that Gated supports.
func activate[F Float](f Function, y, x []F) {
	switch f {
	case SiLU:
		simd.SiLU(y, x)
	case GELU:
		simd.GELU(y, x)
	case GELUTanh:
		simd.GELUTanh(y, x)
	}
}

// GatedBackward writes the gradients of Gated for the gradient dy of y. dgate and dup may be any of the others.
//
//	dgate = dy⊙up⊙f′(gate), dup = dy⊙f(gate)
func GatedBackward[F Float](f Function, dgate, dup, gate, up, dy []F) {
	fit("gated backward", len(gate), len(up), len(dy), len(dgate), len(dup))
	parallel.Do(gatedBackwardCall[F]{f, dgate, dup, gate, up, dy}, len(gate), grainSlow)
}

type gatedBackwardCall[F Float] struct {
	f                        Function
	dgate, dup, gate, up, dy []F
}

func (c gatedBackwardCall[F]) Do(lo, hi int) {
	if c.f == SiLU { // with one exponential for both
		simd.GatedSiLUBackward(c.dgate[lo:hi], c.dup[lo:hi], c.gate[lo:hi], c.up[lo:hi], c.dy[lo:hi])
		return
	}
	var room, along [simd.Chunk]F
	simd.Chunks(lo, hi, func(lo, hi int) {
		g, d, dgate, dup := room[:hi-lo], along[:hi-lo], c.dgate[lo:hi], c.dup[lo:hi]
		gate, up, dy := c.gate[lo:hi], c.up[lo:hi], c.dy[lo:hi]
		simd.Mul(d, dy, up)
		if c.f == GELU {
			simd.GELUBackward(d, gate, d)
		} else {
			simd.GELUTanhBackward(d, gate, d)
		}
		activate(c.f, g, gate)
		simd.Mul(dup, dy, g)
		copy(dgate, d)
	})
}
