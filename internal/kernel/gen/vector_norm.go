package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// unless leaves out what follows if a pointer is nil.
func (v *vector) unless(p reg.GPVirtual, f func()) {
	without := v.label("without")
	v.TESTQ(p, p)
	v.JE(operand.LabelRef(without))
	f()
	v.Label(without)
}

// inverse sets x to 1/n; t is free.
func (v *vector) inverse(n reg.GPVirtual, x, t reg.VecPhysical) {
	v.zero(t)
	v.either3(v.VCVTSI2SSQ, v.VCVTSI2SDQ)(n, t.AsX(), t.AsX())
	v.broadcast(t.AsX(), t)
	v.move(v.constantAt("one"), x)
	v.div(t, x, x)
}

func (v *vector) normRows() {
	z := v.vectors
	x, t, mean, rstd, inverse := z[0], z[1], z[2], z[3], z[4]

	p := v.open()
	v.inverse(p["cols"], inverse, t)
	v.broadcast(v.paramAddress("eps"), z[5])
	v.hold("one", z[6])
	r := v.divide(p["cols"])
	v.rows(p["rows"], r, func() {
		v.zero(mean)
		v.each(r, func(part bool) {
			v.load(part, p["x"], x)
			v.add(x, mean, mean)
		})
		v.sumAcross(mean, t)
		v.mul(inverse, mean, mean)
		v.storeFirst(mean, p["mean"])
		v.zero(rstd)
		v.each(r, func(part bool) {
			v.load(part, p["x"], x)
			v.sub(mean, x, x)
			if part {
				v.clearRest(x)
			}
			v.fma(x, x, rstd)
		})
		v.sumAcross(rstd, t)
		v.mul(inverse, rstd, rstd)
		v.add(z[5], rstd, rstd)
		v.sqrt(rstd, rstd)
		v.div(rstd, z[6], rstd)
		v.storeFirst(rstd, p["rstd"])
		v.each(r, func(part bool) {
			v.load(part, p["x"], x)
			v.sub(mean, x, x)
			v.mul(rstd, x, x)
			v.unless(p["gamma"], func() {
				v.load(part, p["gamma"], t)
				v.mul(t, x, x)
			})
			v.unless(p["beta"], func() {
				v.load(part, p["beta"], t)
				v.add(t, x, x)
			})
			v.store(part, x, p["y"])
		})
		v.ADDQ(operand.U8(v.size), p["mean"])
		v.ADDQ(operand.U8(v.size), p["rstd"])
	}, p["x"], p["y"])
	v.shut()
}

func (v *vector) normBackwardRows() {
	z := v.vectors
	x, t, mean, rstd, inverse := z[0], z[1], z[2], z[3], z[4]
	g, sum, product := z[5], z[6], z[7]
	p := v.open()
	v.inverse(p["cols"], inverse, t)
	r := v.divide(p["cols"])
	read := func(part bool) {
		v.load(part, p["dy"], g)
		v.unless(p["gamma"], func() {
			v.load(part, p["gamma"], t)
			v.mul(t, g, g)
		})
		v.load(part, p["x"], x)
		v.sub(mean, x, x)
		v.mul(rstd, x, x)
	}
	v.rows(p["rows"], r, func() {
		v.broadcast(operand.Mem{Base: p["mean"]}, mean)
		v.broadcast(operand.Mem{Base: p["rstd"]}, rstd)
		v.zero(sum)
		v.zero(product)
		v.each(r, func(part bool) { // behind the rest g is 0, but x̂ is not, and may be NaN
			read(part)
			if part {
				v.clearRest(x)
			}
			v.add(g, sum, sum)
			v.fma(g, x, product)
		})
		v.sumAcross(sum, t)
		v.sumAcross(product, t)
		v.mul(inverse, sum, sum)
		v.mul(inverse, product, product)
		v.each(r, func(part bool) {
			read(part)
			v.sub(sum, g, g)
			v.fnma(x, product, g)
			v.mul(rstd, g, g)
			v.store(part, g, p["dx"])
		})
		v.ADDQ(operand.U8(v.size), p["mean"])
		v.ADDQ(operand.U8(v.size), p["rstd"])
	}, p["dy"], p["x"], p["dx"])
	v.shut()
}

func (v *vector) normColumns() {
	z := v.vectors
	x, t, mean, rstd, g := z[0], z[1], z[2], z[3], z[5]
	p := v.open()
	r := v.divide(p["cols"])
	v.rows(p["rows"], r, func() {
		v.broadcast(operand.Mem{Base: p["mean"]}, mean)
		v.broadcast(operand.Mem{Base: p["rstd"]}, rstd)
		v.each(r, func(part bool) {
			v.load(part, p["dy"], g)
			v.load(part, p["x"], x)
			v.sub(mean, x, x)
			v.mul(rstd, x, x)
			v.load(part, p["dgamma"], t)
			v.fma(g, x, t)
			v.store(part, t, p["dgamma"])
			v.load(part, p["dbeta"], t)
			v.add(g, t, t)
			v.store(part, t, p["dbeta"])
		})
		v.ADDQ(operand.U8(v.size), p["mean"])
		v.ADDQ(operand.U8(v.size), p["rstd"])
	}, p["dy"], p["x"])
	v.shut()
}

// clearRest sets the lanes behind the rest of a row to 0.
func (v *vector) clearRest(x reg.VecPhysical) {
	if v.masked {
		v.either3(v.VMOVAPS_Z, v.VMOVAPD_Z)(x, v.mask.k, x)
	} else {
		v.VANDPS(v.mask.v, x, x)
	}
}

// either3 is either for instructions with exactly three operands.
func (v *vector) either3(single, double func(x, y, z operand.Op)) func(x, y, z operand.Op) {
	if v.single() {
		return single
	}
	return double
}
