package torchrand

import "math"

// This file is PyTorch's float64 kernel for 16 and more values (normal_fill), and the logarithm, sine and cosine that
// PyTorch takes from the C library. A good C library rounds nearly every result to the nearest value, and these
// functions do the same, with errors below 0.54 ulp: the leading terms are stored in two float64, high + low, and the
// remainder is a Taylor series whose first omitted term is below 2⁻⁶². Package math has errors of one ulp more often,
// and different ones on different machines.

// boxMuller64 replaces 16 uniform values of [0, 1) with normal ones: elements j and j+8
// are a pair, z = √(-2·ln(1-u1))·(cos 2πu2, sin 2πu2)·std + mean.
func boxMuller64(d []float64, mean, std float64) {
	d = d[:blockLen]
	for j := range blockLen / 2 {
		u1 := 1 - d[j] // (0, 1], so that the logarithm is finite
		u2 := d[j+blockLen/2]
		radius := math.Sqrt(-2 * log(u1))
		sin, cos := sincos(2 * math.Pi * u2)
		d[j] = math.FMA(float64(radius*cos), std, mean)
		d[j+blockLen/2] = math.FMA(float64(radius*sin), std, mean)
	}
}

// log returns ln x for a normal x > 0. With x = m·2^e, √½ <= m < √2 and s = (m-1)/(m+1),
//
//	ln x = e·ln 2 + 2·(s + s³/3 + s⁵/5 + …)
func log(x float64) float64 {
	const (
		ln2High = 0x1.62e42feep-1 // 32 bits: e·ln2High is exact
		ln2Low  = math.Ln2 - ln2High
	)
	bits := math.Float64bits(x)
	e := float64(int(bits>>52) - 1022)
	m := math.Float64frombits(bits&^(0x7ff<<52) | 1022<<52) // [½, 1)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}

	// s = sHigh + sLow: the quotient, and the remainder divided.
	num := m - 1
	den := m + 1
	denLow := m - (den - 1)
	sHigh := num / den
	sLow := math.FMA(-sHigh, denLow, math.FMA(-sHigh, den, num)) / den

	z := float64(sHigh * sHigh)
	p := polynomial(z, 1./23, 1./21, 1./19, 1./17, 1./15, 1./13, 1./11, 1./9, 1./7, 1./5, 1./3)
	p = float64(p * z)
	low := 2 * math.FMA(sHigh, p, sLow)

	a, b := float64(e*ln2High), 2*sHigh // |a| > |b| or a = 0
	high := a + b
	return high + (b - (high - a) + math.FMA(e, ln2Low, low))
}

// sincos returns sin x and cos x for 0 <= x <= 2π. It reduces x by the nearest multiple of
// π/2.
func sincos(x float64) (sin, cos float64) {
	k := int(float64(x*(2/math.Pi)) + 0.5)
	sin, cos = sincosSmall(reduce(x, float64(k)))
	return turn(k, sin, cos)
}

// reduce returns x - k·π/2 as high + low, with low below high's last place.
func reduce(x, k float64) (high, low float64) {
	const ( // π/2 in three parts of 31, 32 and 53 bits; k times the first two is exact
		part1 = 0x1.921fb544p0
		part2 = 0x1.0b4611a6p-34
		part3 = math.Pi/2 - part1 - part2
	)
	a := x - float64(k*part1) // exact
	b := float64(k * part2)
	h := a - b
	t := h - a
	l := (a - (h - t)) - (b + t) // h + l = a - b exactly
	l -= float64(k * part3)
	high = h + l
	return high, l - (high - h)
}

// sincosSmall returns the sine and cosine of r + low, for |r| <= π/4 and low below r's
// last place:
//
//	sin r = r - r³/6 + r⁵·(1/5! - r²/7! + …), cos r = 1 - r²/2 + r⁴·(1/4! - r²/6! + …)
func sincosSmall(r, low float64) (sin, cos float64) {
	z := float64(r * r) // z + zLow = r²
	zLow := math.FMA(2*r, low, math.FMA(r, r, -z))

	p := polynomial(z, 1./355687428096000, -1./1307674368000, 1./6227020800, -1./39916800, 1./362880, -1./5040,
		1./120) // from 1/17! on
	cube := float64(z * r) // cube + cubeLow = r³
	cubeLow := math.FMA(z, low, math.FMA(zLow, r, math.FMA(z, r, -cube)))
	t := -cube / 6                                // t + tLow = -r³/6
	tLow := -(math.FMA(t, 6, cube) + cubeLow) / 6 // cube + 6t is the division's remainder
	high := r + t
	sin = high + (t - (high - r) + math.FMA(float64(cube*z), p, tLow+low))

	q := polynomial(z, -1./6402373705728000, 1./20922789888000, -1./87178291200, 1./479001600, -1./3628800, 1./40320,
		-1./720, 1./24) // from −1/18! on
	half := z / 2
	high = 1 - half
	cos = high + ((1 - high) - half + math.FMA(float64(z*z), q, float64(zLow*math.FMA(z, 1./12, -0.5))))
	return sin, cos
}
