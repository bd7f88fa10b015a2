package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rowTop sets top to the maximum of a row of x, in every lane; a NaN gets lost. lowest is held.
func (v *vector) rowTop(r row, top, t reg.VecPhysical) {
	v.move(v.held["lowest"], top)
	v.each(r, func(part *mask) {
		v.loadLow(part, "x", t)
		v.max(top, t, top)
	})
	v.across(v.max, top, t)
}

// rowShift turns a maximum into what to subtract: 0 instead of −∞, for −∞ − −∞ would be NaN.
func (v *vector) rowShift(top, zero, t reg.VecPhysical) {
	v.replaceWhere(equal, v.held["lowest"], top, zero, top, t)
}

func (v *vector) softmaxRows() {
	z := v.vectors
	shift, sum, x, zero := z[0], z[1], z[2], z[9]
	scale, empty := z[6], z[7]

	v.holdExp(z[13], z[14])
	v.hold("lowest", z[12])
	v.fillParam("scale", scale)
	v.fillParam("empty", empty)
	v.zero(zero)
	r := v.divide("cols")
	v.rows(r, func() {
		v.rowTop(r, shift, x)
		v.rowShift(shift, zero, x)
		v.zero(sum)
		v.each(r, func(part *mask) {
			v.loadLow(part, "x", x)
			v.sub(shift, x, x)
			v.exp(x, z[3], z[4], z[5])
			v.store(part, x, "y")
			v.add(x, sum, sum)
		})
		v.sumAcross(sum, x)
		factor := shift
		v.div(sum, scale, factor)
		v.replaceWhere(equal, zero, sum, empty, factor, x)
		v.each(r, func(part *mask) {
			v.load(part, "y", x)
			v.mul(factor, x, x)
			v.store(part, x, "y")
		})
	}, "x", "y")
}

func (v *vector) sumExpRows() {
	z := v.vectors
	shift, sum, x, zero := z[0], z[1], z[2], z[9]
	v.holdExp(z[13], z[14])
	v.hold("lowest", z[12])
	v.zero(zero)
	r := v.divide("cols")
	v.rows(r, func() {
		v.rowTop(r, shift, x)
		v.storeFirst(shift, "top")
		v.rowShift(shift, zero, x)
		v.zero(sum)
		v.each(r, func(part *mask) {
			v.loadLow(part, "x", x)
			v.sub(shift, x, x)
			v.exp(x, z[3], z[4], z[5])
			v.add(x, sum, sum)
		})
		v.sumAcross(sum, x)
		v.storeFirst(sum, "sum")
	}, "top", "sum", "x")
}

func (v *vector) softmaxBackwardRows() {
	z := v.vectors
	sum, x := z[1], z[2]
	r := v.divide("cols")
	v.rows(r, func() {
		v.zero(sum)
		v.each(r, func(part *mask) {
			v.load(part, "y", x)
			v.load(part, "dy", z[3])
			v.fma(x, z[3], sum)
		})
		v.sumAcross(sum, x)
		v.each(r, func(part *mask) {
			v.load(part, "dy", x)
			v.load(part, "y", z[3])
			v.sub(sum, x, x)
			v.mul(z[3], x, x)
			v.store(part, x, "dx")
		})
	}, "y", "dy", "dx")
}

// replaceWhere sets x to y where "a p b"; t is free.
func (v *vector) replaceWhere(p predicate, b, a operand.Op, y, x, t reg.VecPhysical) {
	if v.masked {
		v.compare(p, b, a, reg.K2)
		v.moveWhere(reg.K2, y, x)
		return
	}
	v.compare(p, b, a, t)
	v.blend(t, y, x, x)
}
