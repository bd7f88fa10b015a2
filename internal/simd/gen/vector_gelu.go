package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// normalTail is a polynomial in t = 1/(1 + 0.34·|x|). Multiplied by e^(−x²/2) it gives ½·erfc(|x|/√2) with a relative
// error of at most 1.3e-8 up to |x| = 14; beyond that the tail is 0 in single precision. Fitted by least squares with
// weights that level the relative errors.
var normalTail = []float64{2.2002696062779606e-06, 0.13556915166792988, 0.13661983915215117, 0.11240873514258676,
	0.12474994979826566, -0.0648489402875592, 0.22971770162941071, -0.2963690099810653, 0.15050832099204733,
	-0.028357955009554334}

// tail sets e to e^(−x²/2), q to ½·erfc(|x|/√2) and size to |x|, at most 15. x stays; n and s are free.
func (v *vector) tail(x, e, q, size, n, s reg.VecPhysical) {
	v.mul(x, x, e)
	v.mul(v.constant("minusHalf"), e, e)
	v.exp(e, n, q, s)
	v.move(v.constant("sign"), s)
	v.bare(s, x, size)
	v.min(v.held["tailMost"], size, size)
	v.move(v.constant("one"), s)
	v.move(v.constant("tailScale"), n)
	v.chain([]operand.Op{s}, size, n)
	v.div(n, s, n) // t
	v.polynomial(v.coefficients("tail", len(normalTail)), n, q)
	v.mul(e, q, q)
}

// gelu computes x·Φ(x) as x − x·q for x ≥ 0 and −|x|·q below, with the tail q = Φ(−|x|).
func (v *vector) gelu() {
	z := v.vectors
	v.holdExp(z[13], z[14])
	v.hold("tailMost", z[12])
	v.hold("zero", z[11])
	v.elements(func(part *mask) {
		x, q, size := z[5], z[6], z[7]
		v.load(part, "x", x)
		v.tail(x, z[0], q, size, z[1], z[3])
		v.max(v.held["zero"], x, x)
		v.fnma(size, q, x)
		v.store(part, x, "y")
	})
}

// geluBackward computes Φ(x) + x·φ(x), where Φ is 1 − q for x ≥ 0 and q below.
func (v *vector) geluBackward() {
	z := v.vectors
	v.holdExp(z[13], z[14])
	v.hold("tailMost", z[12])
	v.hold("zero", z[11])
	v.elements(func(part *mask) {
		x, q, size, e := z[5], z[6], z[7], z[0]
		v.load(part, "x", x)
		v.tail(x, e, q, size, z[1], z[3])
		v.mul(v.constant("density"), e, e)
		v.mul(size, e, e) // |x|·φ
		v.move(v.constant("one"), z[1])
		v.sub(q, z[1], z[1]) // 1 − q
		v.add(e, z[1], z[1]) // the slope for x ≥ 0
		v.sub(e, q, q)       // and below
		v.replaceNegative(x, q, z[1])
		v.load(part, "dy", z[8])
		v.mul(z[8], z[1], z[1])
		v.store(part, z[1], "dx")
	})
}
