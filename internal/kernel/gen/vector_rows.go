package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rowTop sets top to the maximum of a row, in every lane; a NaN gets lost. lowest is held.
func (v *vector) rowTop(r row, x reg.GPVirtual, top, t reg.VecPhysical) {
	v.move(v.held["lowest"], top)
	v.each(r, func(part bool) {
		v.loadLow(part, x, t)
		v.max(top, t, top)
	})
	v.across(v.VMAXPS, v.VMAXPD, top, t)
}

// rowShift turns a maximum into what to subtract: 0 instead of −∞, for −∞ − −∞ would be NaN.
func (v *vector) rowShift(top, zero, t reg.VecPhysical) {
	v.replaceWhereEqual(top, v.held["lowest"], zero, top, t)
}

func (v *vector) softmaxRows() {
	z := v.vectors
	shift, sum, x, zero := z[0], z[1], z[2], z[9]
	scale, empty := z[6], z[7]

	p := v.open()
	v.holdExp()
	v.hold("lowest", z[12])
	v.broadcast(v.paramAddress("scale"), scale)
	v.broadcast(v.paramAddress("empty"), empty)
	v.zero(zero)
	r := v.divide(p["cols"])
	v.rows(p["rows"], r, func() {
		v.rowTop(r, p["x"], shift, x)
		v.rowShift(shift, zero, x)
		v.zero(sum)
		v.each(r, func(part bool) {
			v.loadLow(part, p["x"], x)
			v.sub(shift, x, x)
			v.exp(x, z[3], z[4], z[5])
			v.store(part, x, p["y"])
			v.add(x, sum, sum)
		})
		v.sumAcross(sum, x)
		factor := shift
		v.div(sum, scale, factor)
		v.replaceWhereEqual(sum, zero, empty, factor, x)
		v.each(r, func(part bool) {
			v.load(part, p["y"], x)
			v.mul(factor, x, x)
			v.store(part, x, p["y"])
		})
	}, p["x"], p["y"])
	v.shut()
}

func (v *vector) sumExpRows() {
	z := v.vectors
	shift, sum, x, zero := z[0], z[1], z[2], z[9]
	p := v.open()
	v.holdExp()
	v.hold("lowest", z[12])
	v.zero(zero)
	r := v.divide(p["cols"])
	v.rows(p["rows"], r, func() {
		v.rowTop(r, p["x"], shift, x)
		v.storeFirst(shift, p["top"])
		v.rowShift(shift, zero, x)
		v.zero(sum)
		v.each(r, func(part bool) {
			v.loadLow(part, p["x"], x)
			v.sub(shift, x, x)
			v.exp(x, z[3], z[4], z[5])
			v.add(x, sum, sum)
		})
		v.sumAcross(sum, x)
		v.storeFirst(sum, p["sum"])
		v.ADDQ(operand.U8(v.size), p["top"])
		v.ADDQ(operand.U8(v.size), p["sum"])
	}, p["x"])
	v.shut()
}

func (v *vector) softmaxBackwardRows() {
	z := v.vectors
	sum, x := z[1], z[2]
	p := v.open()
	r := v.divide(p["cols"])
	v.rows(p["rows"], r, func() {
		v.zero(sum)
		v.each(r, func(part bool) {
			v.load(part, p["y"], x)
			v.load(part, p["dy"], z[3])
			v.fma(x, z[3], sum)
		})
		v.sumAcross(sum, x)
		v.each(r, func(part bool) {
			v.load(part, p["dy"], x)
			v.load(part, p["y"], z[3])
			v.sub(sum, x, x)
			v.mul(z[3], x, x)
			v.store(part, x, p["dx"])
		})
	}, p["y"], p["dy"], p["dx"])
	v.shut()
}

func (v *vector) storeFirst(x reg.VecPhysical, p reg.GPVirtual) {
	v.either(v.VMOVSS, v.VMOVSD)(x.AsX(), operand.Mem{Base: p})
}
