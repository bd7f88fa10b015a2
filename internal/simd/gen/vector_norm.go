package main

import "github.com/mmcloughlin/avo/reg"

// inverse sets x to 1/cols; t is free.
func (v *vector) inverse(x, t reg.VecPhysical) {
	v.fillInteger(v.params["cols"], t)
	v.move(v.constantAt("one"), x)
	v.div(t, x, x)
}

func (v *vector) normRows() {
	z := v.vectors
	x, t, mean, rstd, inverse := z[0], z[1], z[2], z[3], z[4]

	v.inverse(inverse, t)
	v.fillParam("eps", z[5])
	v.hold("one", z[6])
	r := v.divide("cols")
	v.rows(r, func() {
		v.zero(mean)
		v.each(r, func(part *mask) {
			v.load(part, "x", x)
			v.add(x, mean, mean)
		})
		v.sumAcross(mean, t)
		v.mul(inverse, mean, mean)
		v.storeFirst(mean, "mean")
		v.zero(rstd)
		v.each(r, func(part *mask) {
			v.load(part, "x", x)
			v.sub(mean, x, x)
			v.clearRest(part, x)
			v.fma(x, x, rstd)
		})
		v.sumAcross(rstd, t)
		v.mul(inverse, rstd, rstd)
		v.add(z[5], rstd, rstd)
		v.sqrt(rstd, rstd)
		v.div(rstd, z[6], rstd)
		v.storeFirst(rstd, "rstd")
		v.each(r, func(part *mask) {
			v.load(part, "x", x)
			v.sub(mean, x, x)
			v.mul(rstd, x, x)
			v.unless(v.params["gamma"], func() {
				v.load(part, "gamma", t)
				v.mul(t, x, x)
			})
			v.unless(v.params["beta"], func() {
				v.load(part, "beta", t)
				v.add(t, x, x)
			})
			v.store(part, x, "y")
		})
	}, "mean", "rstd", "x", "y")
}

func (v *vector) normBackwardRows() {
	z := v.vectors
	x, t, mean, rstd, inverse := z[0], z[1], z[2], z[3], z[4]
	g, sum, product := z[5], z[6], z[7]
	v.inverse(inverse, t)
	r := v.divide("cols")
	read := func(part *mask) {
		v.load(part, "dy", g)
		v.unless(v.params["gamma"], func() {
			v.load(part, "gamma", t)
			v.mul(t, g, g)
		})
		v.load(part, "x", x)
		v.sub(mean, x, x)
		v.mul(rstd, x, x)
	}
	v.rows(r, func() {
		v.broadcast(v.first("mean"), mean)
		v.broadcast(v.first("rstd"), rstd)
		v.zero(sum)
		v.zero(product)
		v.each(r, func(part *mask) { // behind the rest g is 0, but x̂ is not, and may be NaN
			read(part)
			v.clearRest(part, x)
			v.add(g, sum, sum)
			v.fma(g, x, product)
		})
		v.sumAcross(sum, t)
		v.sumAcross(product, t)
		v.mul(inverse, sum, sum)
		v.mul(inverse, product, product)
		v.each(r, func(part *mask) {
			read(part)
			v.sub(sum, g, g)
			v.fnma(x, product, g)
			v.mul(rstd, g, g)
			v.store(part, g, "dx")
		})
	}, "mean", "rstd", "dy", "x", "dx")
}

func (v *vector) normColumns() {
	z := v.vectors
	x, t, mean, rstd, g := z[0], z[1], z[2], z[3], z[5]
	r := v.divide("cols")
	v.rows(r, func() {
		v.broadcast(v.first("mean"), mean)
		v.broadcast(v.first("rstd"), rstd)
		v.each(r, func(part *mask) {
			v.load(part, "dy", g)
			v.load(part, "x", x)
			v.sub(mean, x, x)
			v.mul(rstd, x, x)
			v.load(part, "dgamma", t)
			v.fma(g, x, t)
			v.store(part, t, "dgamma")
			v.load(part, "dbeta", t)
			v.add(g, t, t)
			v.store(part, t, "dbeta")
		})
	}, "mean", "rstd", "dy", "x")
}

func (v *vector) rootRows() {
	x, t, factor := v.vectors[0], v.vectors[1], v.vectors[2]
	r := v.divide("cols")
	v.rows(r, func() {
		v.broadcast(v.first("factor"), factor)
		v.each(r, func(part *mask) {
			v.load(part, "x", x)
			v.mul(factor, x, x)
			v.load(part, "weight", t)
			v.mul(t, x, x)
			v.store(part, x, "y")
		})
	}, "factor", "x", "y")
}

// rootBackwardRows rounds after each operation, as plain Go does.
func (v *vector) rootBackwardRows() {
	z := v.vectors
	x, g, t, factor, along := z[0], z[1], z[2], z[3], z[4]
	r := v.divide("cols")
	v.rows(r, func() {
		v.broadcast(v.first("factor"), factor)
		v.broadcast(v.first("along"), along)
		v.each(r, func(part *mask) {
			v.load(part, "dy", g)
			v.load(part, "x", x)
			v.mul(g, x, t)
			v.mul(factor, t, t)
			v.load(part, "dweight", z[5])
			v.add(t, z[5], z[5])
			v.store(part, z[5], "dweight")
			v.load(part, "weight", t)
			v.mul(t, g, g)
			v.mul(along, x, x)
			v.sub(x, g, g)
			v.mul(factor, g, g)
			v.store(part, g, "dx")
		})
	}, "factor", "along", "dy", "x", "dx")
}

// clearRest sets the lanes behind the rest of a row to 0.
func (v *vector) clearRest(part *mask, x reg.VecPhysical) {
	switch {
	case part == nil:
	case v.masked:
		either(v.generator, v.VMOVAPS_Z, v.VMOVAPD_Z)(x, part.k, x)
	default:
		v.and(part.v, x, x)
	}
}
