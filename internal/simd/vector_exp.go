package simd

import "math"

// expGo has an error of at most 1 unit in the last place, and of 2 for float64 and below the smallest normal number,
// like the assembly. −∞ gives 0, +∞ gives +∞, and NaN stays NaN.
func expGo[F Float](y, x []F) {
	y = y[:len(x)]
	for i, v := range x {
		if v < -87 || v > 88 { // near the ends of float32, and everything else that is large
			y[i] = F(exp64(float64(v)))
		} else {
			y[i] = expOf(v)
		}
	}
}

// exp64 is math.Exp, which on amd64 returns ∞ from 709.44 on, long before the result overflows.
func exp64(x float64) float64 {
	if x > 709 && x < 710 {
		const eLow = 1.4456468917292502e-16 // e − math.E as a float64
		y := math.Exp(x - 1)
		return math.FMA(y, math.E, y*eLow)
	}
	return math.Exp(x)
}

// expOf returns e^x.
func expOf[F Float](x F) F {
	if SizeOf[F]() == 4 {
		return F(exp32(float32(x)))
	}
	return F(math.Exp(float64(x)))
}

// exp32 returns e^x to within 1 unit in the last place; results below the smallest normal number are 0.
// x = n·ln 2 + r with |r| ≤ ½·ln 2, and e^r is a polynomial with the least greatest relative error, 3e-9.
func exp32(x float32) float32 {
	const (
		least, most = -87.33654, 88
		round       = 3 << 22     // adding it leaves no bits for a fraction
		high        = 0x1.62e4p-1 // ln 2 in 15 bits: n·high is exact
		low         = math.Ln2 - high
	)
	if !(x >= least && x <= most) {
		if x < least {
			return 0
		}
		return float32(math.Exp(float64(x)))
	}
	n := float32(x*math.Log2E+round) - round
	r := float32(x-n*high) - n*low
	e := float32(0.00138145995535)
	e = e*r + 0.00836871687519
	e = e*r + 0.041668388031
	e = e*r + 0.166665206318
	e = e*r + 0.499999934478
	e = e*r*r + r + 1
	return e * math.Float32frombits(uint32(int32(n)+127)<<23)
}
