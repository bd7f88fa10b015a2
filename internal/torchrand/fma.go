package torchrand

import "math"

// PyTorch's kernels are compiled with fused multiply–adds: a product that is added
// to something is not rounded on its own. Here math.FMA does the same for float64
// and fma32 for float32. Every other product that is added to something is either
// exact or rounded by an explicit conversion, so that a Go compiler cannot fuse
// the two by itself and every machine gives the same bits.

// fma32 returns a·b+c rounded once to float32. The arguments and the result are
// float32 values held in float64; a result below 2⁻¹²⁶ may be rounded twice.
func fma32(a, b, c float64) float64 {
	p := a * b // exact: 24+24 bits fit into 53
	s := p + c
	// s is rounded already. Rounding it again, to float32, can only go wrong
	// where s lies halfway between two float32 values: a one, then 28 zeros.
	if math.Float64bits(s)&(1<<29-1) == 1<<28 {
		s = leaveHalfway(s, p, c)
	}
	return float64(float32(s))
}

// leaveHalfway returns the neighbour of s, which is p+c rounded, on the side
// where the exact sum lies; or s, if it is the exact sum.
func leaveHalfway(s, p, c float64) float64 {
	t := s - p
	lost := (p - (s - t)) + (c - t) // Knuth's two-sum: s + lost = p + c exactly
	switch {
	case lost > 0:
		return math.Nextafter(s, math.Inf(1))
	case lost < 0:
		return math.Nextafter(s, math.Inf(-1))
	}
	return s
}

// round32 rounds to float32.
func round32(x float64) float64 { return float64(float32(x)) }
