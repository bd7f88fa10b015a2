package main

import (
	"math"
	"slices"
	"strconv"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// logConstants returns the constants of logSingle, of use as float64 alone.
func logConstants() []constant {
	return append([]constant{
		{"mantissa", math.Float64frombits(1<<52 - 1)}, {"half", 0.5},
		// An integer below 2⁵² or-ed into the bits of 2⁵² is added to it.
		{"integers", 0x1p52}, {"exponents", 0x1p52 + 1022},
		{"singleSqrtHalf", float64(math.Float32frombits(0x3f3504f2))}, {"ln2", math.Ln2},
	}, slices.Concat(numbered("artanh", artanhSeries), numbered("log1p", log1pSeries))...)
}

// artanhSeries holds the coefficients of artanh(s)/s − 1, from s² on.
var artanhSeries = []float64{1. / 3, 1. / 5, 1. / 7, 1. / 9, 1. / 11}

// log1pSeries holds the coefficients of package simd's log1p of float32.
var log1pSeries = []float64{1.0000000039388734, 0.33333157967541299, 0.20012426861695928, 0.13980709417998538,
	0.14087328628608384}

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

// minusLog1p computes in doubles, with the roundings of log1p: log(1 + e) = 2·artanh s with s = e/(2 + e).
func (v *vector) minusLog1p() {
	d := v.ofDoubles()
	z := v.vectors
	s, q, r := z[4], z[5], z[6]
	v.elements(func(part *mask) {
		v.load(part, "x", z[0])
		v.load(part, "e", z[2])
		v.widen(z[0], z[1])
		v.widen(z[2], z[3])
		for half := range 2 {
			x, e := z[half], z[2+half]
			d.add(d.constant("two"), e, s)
			d.div(s, e, s)
			d.mul(s, s, q)
			d.horner("log1p", r, q, 4, 3, 2, 1, 0)
			d.add(s, s, s)
			d.mul(s, r, r)
			d.min(d.constant("zero"), x, x)
			d.sub(r, x, x)
		}
		v.narrow(z[0], z[1])
		v.store(part, z[0], "y")
	})
}

// splitExponent writes x as m·2ᵏ with h < m ≤ 2h, where h = √½ is the operand half: x becomes m. s and t are free.
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
