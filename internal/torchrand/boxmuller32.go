package torchrand

import "math"

// This file is PyTorch's float32 kernel for 16 and more values (normal_fill_AVX2): the single-precision logarithm, sine
// and cosine of Cephes (Stephen Moshier's logf, sinf and cosf), with fused multiply–adds where the compiler puts them.
// Variables of type float64 hold float32 values, as fma32 requires.

// boxMuller32 replaces 16 uniform values of [0, 1) with normal ones: elements j and j+8
// are a pair, z = √(-2·ln(1-u1))·(cos 2πu2, sin 2πu2)·std + mean.
func boxMuller32(d []float32, mean, std float32) {
	const twoPi = float32(2 * math.Pi)
	d = d[:blockLen]
	m, s := float64(mean), float64(std)
	for j := range blockLen / 2 {
		u1 := 1 - d[j] // (0, 1], so that the logarithm is finite
		u2 := d[j+blockLen/2]
		radius := round32(math.Sqrt(-2 * logf(u1)))
		sin, cos := sincosf(float64(twoPi * u2))
		d[j] = float32(fma32(round32(radius*cos), s, m))
		d[j+blockLen/2] = float32(fma32(round32(radius*sin), s, m))
	}
}

// logf returns ln x for a normal x > 0. With x = m·2^e, √½ <= m < √2 and t = m-1,
//
//	ln x = e·ln 2 + t - t²/2 + t³·(1/3 - t/4 + …)
func logf(x float32) float64 {
	const (
		ln2High = 0.693359375 // 9 bits: e·ln2High is exact
		ln2Low  = float64(float32(-2.12194440e-4))
		p0      = float64(float32(7.0376836292e-2))
		p1      = float64(float32(-1.1514610310e-1))
		p2      = float64(float32(1.1676998740e-1))
		p3      = float64(float32(-1.2420140846e-1))
		p4      = float64(float32(1.4249322787e-1))
		p5      = float64(float32(-1.6668057665e-1))
		p6      = float64(float32(2.0000714765e-1))
		p7      = float64(float32(-2.4999993993e-1))
		p8      = float64(float32(3.3333331174e-1))
	)
	bits := math.Float32bits(x)
	e := float64(int(bits>>23) - 126)
	m := math.Float32frombits(bits&^(0xff<<23) | 126<<23) // [½, 1)
	t := float64(m) - 1
	if m < math.Sqrt2/2 {
		t += float64(m)
		e--
	}
	z := round32(t * t)
	p := fma32(p0, t, p1)
	p = fma32(p, t, p2)
	p = fma32(p, t, p3)
	p = fma32(p, t, p4)
	p = fma32(p, t, p5)
	p = fma32(p, t, p6)
	p = fma32(p, t, p7)
	p = fma32(p, t, p8)
	p = fma32(round32(p*t), z, round32(e*ln2Low))
	p = round32(p - z/2)
	return round32(round32(t+p) + e*ln2High)
}

// sincosf returns sin x and cos x for 0 <= x <= 2π. With k·π/2 the multiple of π/2 nearest
// to x and r = x - k·π/2,
//
//	sin r = r + r³·(-1/3! + r²/5! - …), cos r = 1 - r²/2 + r⁴·(1/4! - r²/6! + …)
//
// and k mod 4 determines their order and signs.
func sincosf(x float64) (sin, cos float64) {
	const (
		fourOverPi = float64(float32(4 / math.Pi))
		part1      = -0.78515625 // the three add up to -π/4
		part2      = -2.4187564849853515625e-4
		part3      = float64(float32(-3.77489497744594108e-8))
		s0         = float64(float32(-1.9515295891e-4))
		s1         = float64(float32(8.3321608736e-3))
		s2         = float64(float32(-1.6666654611e-1))
		c0         = float64(float32(2.443315711809948e-5))
		c1         = float64(float32(-1.388731625493765e-3))
		c2         = float64(float32(4.166664568298827e-2))
	)
	octant := (int(round32(x*fourOverPi)) + 1) &^ 1
	k := float64(octant)
	// octant is 0, or x > ½ and the sums have no bit below 2⁻⁴⁹: they are exact.
	r := round32(x + k*part1)
	r = round32(r + k*part2)
	r = round32(r + k*part3)
	z := round32(r * r)

	s := fma32(s0, z, s1)
	s = fma32(s, z, s2)
	s = fma32(round32(s*z), r, r)

	c := fma32(c0, z, c1)
	c = fma32(c, z, c2)
	c = fma32(round32(c*z), z, -z/2)
	c = round32(1 + c)

	return turn(octant/2, s, c)
}

// turn returns the sine and cosine of an angle increased by k quarter turns.
func turn(k int, sin, cos float64) (float64, float64) {
	switch k & 3 {
	case 1:
		return cos, -sin
	case 2:
		return -sin, -cos
	case 3:
		return -cos, sin
	}
	return sin, cos
}
