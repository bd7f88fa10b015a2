package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exp replaces x by e^x; n, e and s are free. NaN stays NaN, −∞ gives 0 and +∞ gives +∞; a result too large
// for a normal number becomes ∞, and one too small a subnormal number, rounded once.
//
// Results that would be 0 are not computed, because an underflow takes the processor a hundred times as long.
//
//	x = n·ln 2 + r:  e^x = 2ⁿ·e^r
func (v *vector) exp(x, n, e, s reg.VecPhysical) {
	if v.masked {
		v.compare(notLessOrNaN, v.held["least"], x, reg.K3)
	} else {
		v.compare(lessThan, v.held["least"], x, s)
	}
	// If an operand is NaN, these instructions return their second operand, the first in Go's order.
	v.max(x, v.held["least"], x)
	v.min(x, v.held["most"], x)
	v.reduce(x, n, e)
	v.chain([]operand.Op{v.constant("one"), v.constant("one")}, x, e)
	if v.masked {
		v.scalefWhere(reg.K3, n, e, x)
		return
	}
	v.clearWhere(s, e)
	v.twoPowers(n, s) // n may lie outside of the exponents of normal numbers
	v.mul(n, e, x)
	v.mul(s, x, x)
}

// tanh replaces x by tanh x; the others are free.
//
//	E = e^2|x| − 1 = 2ⁿ·(e^r − 1) + (2ⁿ − 1):  tanh |x| = E/(E+2)
func (v *vector) tanh(x, n, e, s, sign reg.VecPhysical) {
	v.move(v.constant("sign"), s)
	v.and(x, s, sign)
	v.bare(s, x, x)
	v.add(x, x, x)
	v.min(x, v.held["tanhMost"], x)
	v.reduce(x, n, e)
	v.mul(x, e, e)
	v.chain([]operand.Op{x}, x, e)
	v.power(n, s)
	v.sub(v.constant("one"), s, n)
	v.chain([]operand.Op{n}, s, e)
	v.add(v.constant("two"), e, n)
	v.div(n, e, x)
	v.or(sign, x, x)
}

func (v *vector) expElements() {
	z := v.vectors
	v.holdExp(z[13], z[14])
	v.ofOne(func(x reg.VecPhysical) { v.exp(x, z[1], z[2], z[3]) })
}

// onePlusExp sets e to 1 + e^−x; x stays, and the others are free.
func (v *vector) onePlusExp(x, e, n, s, t reg.VecPhysical) {
	v.sub(x, v.held["zero"], e)
	v.exp(e, n, s, t)
	v.add(v.held["one"], e, e)
}

func (v *vector) silu() {
	z := v.vectors
	v.holdExp(z[13], z[14])
	v.hold("one", z[12])
	v.hold("zero", z[11])
	v.ofOne(func(x reg.VecPhysical) {
		v.onePlusExp(x, z[1], z[2], z[3], z[4])
		v.div(z[1], x, x)
	})
}

func (v *vector) gatedSiLUBackward() {
	z := v.vectors
	v.holdExp(z[13], z[14])
	one := v.hold("one", z[12])
	v.hold("zero", z[11])
	v.elements(func(part *mask) {
		x, s, d, slope := z[0], z[1], z[5], z[6]
		v.load(part, "gate", x)
		v.onePlusExp(x, s, z[2], z[3], z[4])
		v.div(s, one, s)
		v.sub(s, one, slope)
		v.mul(x, slope, slope)
		v.add(one, slope, slope)
		v.mul(s, slope, slope)
		v.mul(x, s, s)
		v.load(part, "dy", d)
		v.mul(d, s, s) // dup
		v.load(part, "up", z[7])
		v.mul(z[7], d, d)
		v.mul(slope, d, d)
		v.store(part, d, "dgate")
		v.store(part, s, "dup")
	})
}

func (v *vector) tanhElements() {
	z := v.vectors
	v.holdExp(z[13], z[14])
	v.hold("tanhMost", z[12])
	v.ofOne(func(x reg.VecPhysical) { v.tanh(x, z[1], z[2], z[3], z[4]) })
}

func (v *vector) tanhBackward() {
	z := v.vectors
	one := v.hold("one", z[12])
	v.elements(func(part *mask) {
		v.load(part, "y", z[0])
		v.load(part, "dy", z[1])
		v.mul(z[0], z[0], z[0])
		v.sub(z[0], one, z[0])
		v.mul(z[0], z[1], z[1])
		v.store(part, z[1], "dx")
	})
}

func (v *vector) geluTanh() {
	z := v.vectors
	v.holdExp(z[13], z[14])
	v.elements(func(part *mask) {
		v.load(part, "x", z[5])
		v.geluExponent(z[5], z[0], z[6])
		v.exp(z[0], z[1], z[2], z[3])
		v.add(v.constant("one"), z[0], z[0])
		v.div(z[0], z[5], z[0])
		v.store(part, z[0], "y")
	})
}

func (v *vector) geluTanhBackward() {
	z := v.vectors
	v.holdExp(z[13], z[14])
	v.hold("geluMost", z[12])
	v.hold("geluLeast", z[11])
	v.hold("one", z[10])
	v.elements(func(part *mask) {
		x, s, square := z[5], z[0], z[6]
		v.load(part, "x", x)
		v.max(x, v.held["geluLeast"], x)
		v.min(x, v.held["geluMost"], x)
		v.geluExponent(x, s, square)
		v.exp(s, z[1], z[2], z[3])
		// s = 1/(1+e), z[8] = x·s·(1−s) with 1−s = e·s, z[7] = −u′
		v.mul(x, s, z[8])
		v.add(v.held["one"], s, s)
		v.div(s, v.held["one"], s)
		v.polynomial([]operand.Op{v.constant("gelu9"), v.constant("gelu1")}, square, z[7])
		v.mul(s, z[8], z[8])
		v.mul(s, z[8], z[8])
		v.fnma(z[7], z[8], s)
		v.load(part, "dy", z[9])
		v.mul(z[9], s, s)
		v.store(part, s, "dx")
	})
}

// geluExponent sets u to −2√(2/π)·(x + 0.044715·x³) and square to x².
func (v *vector) geluExponent(x, u, square reg.VecPhysical) {
	v.mul(x, x, square)
	v.polynomial([]operand.Op{v.constant("gelu3"), v.constant("gelu1")}, square, u)
	v.mul(x, u, u)
}
