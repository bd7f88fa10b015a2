package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// ofOne sets y to what f makes of x, in its place.
func (v *vector) ofOne(f func(x reg.VecPhysical)) {
	x := v.vectors[0]
	v.elements(func(part *mask) {
		v.load(part, "x", x)
		f(x)
		v.store(part, x, "y")
	})
}

func (v *vector) abs() {
	sign := v.hold("sign", v.vectors[1])
	v.ofOne(func(x reg.VecPhysical) { v.bare(sign, x, x) })
}

// sign leaves what is neither above nor below 0: 0, −0 and NaN.
func (v *vector) sign() {
	z := v.vectors
	sign, one, zero := v.hold("sign", z[1]), v.hold("one", z[2]), v.hold("zero", z[3])
	v.ofOne(func(x reg.VecPhysical) {
		v.bare(sign, x, z[4])
		v.and(sign, x, z[5])
		v.or(one, z[5], z[5])
		v.replaceWhere(lessThan, z[4], zero, z[5], x, z[6])
	})
}

func (v *vector) reciprocal() {
	one := v.hold("one", v.vectors[1])
	v.ofOne(func(x reg.VecPhysical) { v.div(x, one, x) })
}

func (v *vector) cube() {
	square := v.vectors[1]
	v.ofOne(func(x reg.VecPhysical) {
		v.mul(x, x, square)
		v.mul(x, square, x)
	})
}

// inverseSqrt rounds a float32 once, at the end.
func (v *vector) inverseSqrt() {
	d := v.ofDoubles()
	one := d.hold("one", v.vectors[1])
	v.ofOne(func(x reg.VecPhysical) {
		v.inDoubles(x, v.vectors[2], func(x reg.VecPhysical) {
			d.sqrt(x, x)
			d.div(x, one, x)
		})
	})
}

// betterOfTwo sets z to x where y is neither better, by op, nor NaN, and sees to NaNs of x itself.
func (v *vector) betterOfTwo(op func(y, x, z operand.Op)) {
	z := v.vectors
	v.elements(func(part *mask) {
		v.load(part, "x", z[0])
		v.load(part, "y", z[1])
		op(z[1], z[0], z[1])
		v.replaceWhere(unordered, z[0], z[0], z[0], z[1], z[2])
		v.store(part, z[1], "z")
	})
}

// comparison sets z to 1 where "x p y", else to 0.
func (v *vector) comparison(p predicate) {
	z := v.vectors
	one := v.hold("one", z[2])
	v.elements(func(part *mask) {
		v.load(part, "x", z[0])
		v.load(part, "y", z[1])
		if v.masked {
			v.compare(p, z[1], z[0], reg.K2)
			either(v.generator, v.VMOVUPS_Z, v.VMOVUPD_Z)(one, reg.K2, z[0])
		} else {
			v.compare(p, z[1], z[0], z[0])
			v.and(one, z[0], z[0])
		}
		v.store(part, z[0], "z")
	})
}

// topRows keeps the NaNs that it meets apart, since max loses them.
func (v *vector) topRows() {
	z := v.vectors
	top, x, nan := z[0], z[1], z[2]
	v.hold("lowest", z[12])
	r := v.divide("cols")
	v.rows(r, func() {
		v.move(v.held["lowest"], top)
		v.zero(nan)
		v.each(r, func(part *mask) {
			v.loadLow(part, "x", x)
			v.max(top, x, top)
			v.replaceWhere(unordered, x, x, x, nan, z[3])
		})
		v.across(v.max, top, x)
		v.sumAcross(nan, x) // NaN, or 0
		v.replaceWhere(unordered, nan, nan, nan, top, x)
		v.storeFirst(top, "y")
	}, "x", "y")
}

// ofDoubles returns the generator of float64, for a part of a function of float32.
func (v *vector) ofDoubles() *vector {
	if !v.single() {
		return v
	}
	g := v.ofElements(elements[1])
	g.constants, g.held = g.vectorConstants(), map[string]reg.VecPhysical{}
	g.openTable()
	return &vector{generator: g}
}

// inDoubles does to x, or to its halves as doubles, what f does; high is free.
func (v *vector) inDoubles(x, high reg.VecPhysical, f func(x reg.VecPhysical)) {
	if !v.single() {
		f(x)
		return
	}
	v.widen(x, high)
	f(x)
	f(high)
	v.narrow(x, high)
}
