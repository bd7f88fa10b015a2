package torchrand

import "math"

// PyTorch's kernels are compiled with fused multiply–adds: the product of a·b+c is not
// rounded. math.FMA does the same for float64 here, and fma32 for float32. Every other
// product in a sum is either exact or rounded by an explicit conversion, so that no Go
// compiler fuses the two and every machine returns the same bits.

// fma32 returns a·b+c rounded once to float32. The arguments and the result are
// float32 values held in float64; a result below 2⁻¹²⁶ may be rounded twice.
func fma32(a, b, c float64) float64 {
	p := a * b // exact: 24+24 bits fit into 53
	s := p + c
	// s is rounded already. Rounding it again to float32 is wrong only if s is halfway between two float32 values: the
	// dropped bits are a one and 28 zeros.
	if math.Float64bits(s)&(1<<29-1) == 1<<28 {
		s = leaveHalfway(s, p, c)
	}
	return float64(float32(s))
}

// polynomial returns the polynomial in x with these coefficients, from the highest power to the lowest, rounded after
// each step.
func polynomial(x float64, coefficients ...float64) float64 {
	y := coefficients[0]
	for _, c := range coefficients[1:] {
		y = math.FMA(y, x, c)
	}
	return y
}

// leaveHalfway returns s, which is p+c rounded, if s is exact; otherwise its neighbour in the direction of the exact
// sum.
func leaveHalfway(s, p, c float64) float64 {
	t := s - p
	lowBits := (p - (s - t)) + (c - t) // Knuth's two-sum: s + lowBits = p + c exactly
	switch {
	case lowBits > 0:
		return math.Nextafter(s, math.Inf(1))
	case lowBits < 0:
		return math.Nextafter(s, math.Inf(-1))
	}
	return s
}

// round32 rounds to float32.
func round32(x float64) float64 { return float64(float32(x)) }
