package main

import (
	"math"
	"strconv"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// logSeries is the polynomial of fdlibm's e_log.c: log m = f − (f²/2 − s·(f²/2 + R)) with f = m − 1, s = f/(2 + f) and
// R = L₁·s² + L₂·s⁴ + …, within 1 unit in the last place.
var logSeries = []float64{
	6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
	1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860510658591e-01,
}

// ln 2 in two parts; the first times an exponent is exact.
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)

// logConstants returns the constants of log, of use as float64 alone.
func logConstants() []constant {
	return append([]constant{
		{"smallest", 0x1p-1022}, {"scaled", 0x1p52}, {"unscaled", 52 * math.Ln2},
		{"mantissa", math.Float64frombits(1<<52 - 1)}, {"half", 0.5}, {"sqrtHalf", math.Sqrt2 / 2},
		// An integer below 2⁵² or-ed into the bits of 2⁵² is added to it.
		{"integers", 0x1p52}, {"exponents", 0x1p52 + 1022},
		{"singleSqrtHalf", float64(math.Float32frombits(0x3f3504f2))}, {"ln2", math.Ln2},
		{"ln2High", ln2High}, {"ln2Low", ln2Low}, {"infinity", math.Inf(1)}, {"nan", math.NaN()},
	}, append(numbered("log", logSeries), numbered("artanh", artanhSeries)...)...)
}

func (v *vector) ln() {
	d := v.ofDoubles()
	v.ofOne(func(x reg.VecPhysical) { v.inDoubles(x, v.vectors[8], d.log) })
}

// log replaces x, of doubles, by log x, with the roundings of Go's math.Log; the vectors 1 to 6 are free.
//
//	x = m·2ᵏ, √½ < m ≤ √2:  log x = k·ln 2 + log m
func (v *vector) log(x reg.VecPhysical) {
	z := v.vectors
	given, k, s, t, q, r := z[1], z[2], z[3], z[4], z[5], z[6]
	v.move(x, given)
	v.mul(v.constant("scaled"), x, t)
	v.replaceWhere(lessThan, v.constant("smallest"), x, t, x, q) // normal now, if it was above 0
	v.splitExponent(x, k, s, t, v.constant("sqrtHalf"))
	v.sub(v.constant("one"), x, x) // f
	v.add(v.constant("two"), x, t)
	v.div(t, x, s)
	v.mul(s, s, t) // s²
	v.mul(t, t, q) // s⁴
	v.horner("log", r, q, 6, 4, 2, 0)
	v.mul(r, t, t)
	v.horner("log", r, q, 5, 3, 1)
	v.mul(r, q, q)
	v.add(q, t, r) // R
	v.mul(v.constant("half"), x, t)
	v.mul(x, t, t) // f²/2
	v.add(t, r, r)
	v.mul(s, r, r)
	v.mul(v.constant("ln2Low"), k, q)
	v.add(q, r, r)
	v.sub(r, t, t)
	v.sub(x, t, t)
	v.mul(v.constant("ln2High"), k, x)
	v.sub(t, x, x)
	v.edgesOfLog(given, x, t, q)
}

// artanhSeries holds the coefficients of artanh(s)/s − 1, from s² on.
var artanhSeries = []float64{1. / 3, 1. / 5, 1. / 7, 1. / 9, 1. / 11}

// logSingle is ln of normal float32 numbers, to 1e-9 before it is rounded, with the roundings of log32.
//
//	x = m·2ᵏ, √½ ≤ m < √2:  log x = k·ln 2 + 2·artanh s  with s = (m − 1)/(m + 1)
func (v *vector) logSingle() {
	d := v.ofDoubles()
	z := v.vectors
	k, s, t, q, r := z[2], z[3], z[4], z[5], z[6]
	v.ofOne(func(x reg.VecPhysical) {
		v.inDoubles(x, z[8], func(x reg.VecPhysical) {
			d.splitExponent(x, k, s, t, d.constant("singleSqrtHalf"))
			d.sub(d.constant("one"), x, s)
			d.add(d.constant("one"), x, t)
			d.div(t, s, s)
			d.mul(s, s, q)
			d.horner("artanh", r, q, 4, 3, 2, 1, 0)
			d.mul(q, r, r)
			d.add(d.constant("one"), r, r)
			d.add(s, s, s)
			d.mul(s, r, r)
			d.mul(d.constant("ln2"), k, x)
			d.add(r, x, x)
		})
	})
}

// splitExponent leaves in x a number above half, a root of ½, and up to twice that, and sets k to its exponent; s and t
// are free.
func (v *vector) splitExponent(x, k, s, t reg.VecPhysical, half operand.Op) {
	v.shiftRight(52, x, k)
	v.or(v.constant("integers"), k, k)
	v.sub(v.constant("exponents"), k, k)
	v.and(v.constant("mantissa"), x, x)
	v.or(v.constant("half"), x, x)
	v.sub(v.constant("one"), k, s)
	v.replaceWhere(lessOrEqualTo, half, x, s, k, t)
	v.add(x, x, s)
	v.replaceWhere(lessOrEqualTo, half, x, s, x, t)
}

// horner sets y to the polynomial in q of these coefficients of a series, rounding after each operation.
func (v *vector) horner(series string, y, q reg.VecPhysical, coefficients ...int) {
	for i, c := range coefficients {
		value := v.constant(series + strconv.Itoa(c))
		if i == 0 {
			v.move(value, y)
			continue
		}
		v.mul(q, y, y)
		v.add(value, y, y)
	}
}

// edgesOfLog sets y where log does not compute the logarithm of x; s and t are free.
func (v *vector) edgesOfLog(x, y, s, t reg.VecPhysical) {
	v.sub(v.constant("unscaled"), y, s)
	v.replaceWhere(lessThan, v.constant("smallest"), x, s, y, t)
	v.replaceWhere(notLessOrNaN, v.constant("infinity"), x, x, y, t)
	v.move(v.constant("nan"), s)
	v.replaceWhere(lessThan, v.constant("zero"), x, s, y, t)
	v.move(v.constant("lowest"), s)
	v.replaceWhere(equal, v.constant("zero"), x, s, y, t)
}
