package main

import "github.com/mmcloughlin/avo/reg"

// ofOne sets y to f(x), in place.
func (v *vector) ofOne(f func(x reg.VecPhysical)) {
	x := v.vectors[0]
	v.elements(func(part *mask) {
		v.load(part, "x", x)
		f(x)
		v.store(part, x, "y")
	})
}

func (v *vector) reciprocal() {
	one := v.hold("one", v.vectors[1])
	v.ofOne(func(x reg.VecPhysical) { v.div(x, one, x) })
}

// greaterOfTwo sets z to x where y is neither greater nor NaN, and sees to NaNs of x itself.
func (v *vector) greaterOfTwo() {
	z := v.vectors
	v.elements(func(part *mask) {
		v.load(part, "x", z[0])
		v.load(part, "y", z[1])
		v.greater(z[1], z[0], z[1])
		v.replaceWhere(unordered, z[0], z[0], z[0], z[1], z[2])
		v.store(part, z[1], "z")
	})
}

// topRows collects NaNs separately, since max ignores them.
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

// inDoubles applies f to x, or to its halves as doubles; high is free.
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
