package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// adam, as the other solvers, rounds after each operation: they all give the bits of plain Go.
func (v *vector) adam() {
	z := v.vectors
	names := []string{"keep", "decay", "beta1", "rest1", "beta2", "rest2", "rate", "root", "eps"}
	k := map[string]reg.VecPhysical{}
	for i, name := range names {
		k[name] = z[6+i]
		v.broadcast(operand.Mem{Base: v.params["k"], Disp: i * v.size}, k[name])
	}
	v.elements(func(part *mask) {
		value, d, m, square, t := z[0], z[1], z[2], z[3], z[4]
		v.load(part, "value", value)
		v.load(part, "grad", d)
		v.load(part, "m", m)
		v.load(part, "v", square)
		v.mul(k["keep"], value, value)
		v.mul(k["decay"], value, t)
		v.add(t, d, d)
		v.mul(k["beta1"], m, m)
		v.mul(k["rest1"], d, t)
		v.add(t, m, m)
		v.store(part, m, "m")
		v.mul(k["beta2"], square, square)
		v.mul(k["rest2"], d, t)
		v.mul(d, t, t)
		v.add(t, square, square)
		v.store(part, square, "v")
		v.sqrt(square, square)
		v.div(k["root"], square, square)
		v.add(k["eps"], square, square)
		v.mul(k["rate"], m, m)
		v.div(square, m, m)
		v.sub(m, value, value)
		v.store(part, value, "value")
	})
}

// descent is SGD, with momentum or without.
func (v *vector) descent(momentum bool) {
	z := v.vectors
	rate, decay, keep := z[6], z[7], z[8]
	v.fillParam("rate", rate)
	v.fillParam("decay", decay)
	if momentum {
		v.fillParam("momentum", keep)
	}
	v.elements(func(part *mask) {
		value, d, t := z[0], z[1], z[2]
		v.load(part, "value", value)
		v.load(part, "grad", d)
		v.mul(decay, value, t)
		v.add(t, d, d)
		if momentum {
			v.load(part, "buffer", t)
			v.mul(keep, t, t)
			v.add(d, t, d)
			v.store(part, d, "buffer")
		}
		v.mul(rate, d, d)
		v.sub(d, value, value)
		v.store(part, value, "value")
	})
}

// ofTwo sets z to the result of op for x and y; op takes its arguments in reverse order.
func (v *vector) ofTwo(op func(y, x, z operand.Op)) {
	z := v.vectors
	v.elements(func(part *mask) {
		v.load(part, "x", z[0])
		v.load(part, "y", z[1])
		op(z[1], z[0], z[0])
		v.store(part, z[0], "z")
	})
}

func (v *vector) scale() {
	c := v.vectors[1]
	v.fillParam("c", c)
	v.ofOne(func(x reg.VecPhysical) { v.mul(c, x, x) })
}

func (v *vector) addRows() {
	z := v.vectors
	r := v.divide("cols")
	v.rows(r, func() {
		v.each(r, func(part *mask) {
			v.load(part, "x", z[0])
			v.load(part, "y", z[1])
			v.add(z[1], z[0], z[0])
			v.store(part, z[0], "z")
		})
	}, "x", "z")
}

func (v *vector) turnRows() {
	z := v.vectors
	cos, sin, a, b := z[0], z[1], z[2], z[3]
	r := v.divide("n")
	r.bytes = v.params["ld"]
	v.shiftLeft(v.shift, r.bytes)
	v.rows(r, func() {
		v.each(r, func(part *mask) {
			v.load(part, "cos", cos)
			v.load(part, "sin", sin)
			v.load(part, "xa", a)
			v.load(part, "xb", b)
			v.mul(cos, a, z[4])
			v.mul(sin, b, z[5])
			v.sub(z[5], z[4], z[4])
			v.mul(cos, b, b)
			v.mul(sin, a, a)
			v.add(a, b, b)
			v.store(part, z[4], "ya")
			v.store(part, b, "yb")
		})
	}, "xa", "xb", "ya", "yb")
}

func (v *vector) sumRows() {
	z := v.vectors
	r := v.divide("n")
	r.bytes = v.params["ld"]
	v.shiftLeft(v.shift, r.bytes)
	v.rows(r, func() {
		v.each(r, func(part *mask) {
			v.load(part, "x", z[0])
			v.load(part, "y", z[1])
			v.add(z[0], z[1], z[1])
			v.store(part, z[1], "y")
		})
	}, "x")
}

// sumColumns adds in float64, whatever the type of the elements: a vector of y holds half as many.
func (v *vector) sumColumns() {
	z := v.vectors
	wide := v.ofElements(elements[1])
	r := v.divide("n")
	r.bytes = v.params["ld"]
	v.shiftLeft(v.shift, r.bytes)
	v.rows(r, func() {
		v.each(r, func(part *mask) {
			v.load(part, "x", z[0])
			y := operand.Mem{Base: v.params["y"], Index: v.at, Scale: 1}
			if !v.single() {
				v.add(y, z[0], z[0])
				v.move(z[0], y)
				return
			}
			y.Scale = 2
			v.widen(z[0], z[1])
			for i, half := range z[:2] {
				y.Disp = i * v.width
				wide.add(y, half, half)
				wide.move(half, y)
			}
		})
	}, "x")
}

// sum and sumSquares add in float64, whatever the type of the elements.
func (v *vector) sum() {
	wide := v.ofElements(elements[1])
	v.total(wide, func(x, sum reg.VecPhysical) { wide.add(x, sum, sum) })
}

func (v *vector) sumSquares() {
	wide := v.ofElements(elements[1])
	v.total(wide, func(x, sum reg.VecPhysical) { wide.fma(x, x, sum) })
}

func (v *vector) sumProducts() {
	wide := v.ofElements(elements[1])
	v.total(wide, func(x, sum reg.VecPhysical) { wide.add(x, sum, sum) }, "y", "weight")
}

// total adds x, multiplied by the factors, to two sums in float64; for elements in float64 it uses them alternately.
func (v *vector) total(wide *generator, add func(x, sum reg.VecPhysical), factors ...string) {
	z := v.vectors
	v.zero(z[0])
	v.zero(z[1])
	v.elements(func(part *mask) {
		v.load(part, "x", z[2])
		for _, name := range factors {
			v.load(part, name, z[3])
			v.mul(z[3], z[2], z[2])
		}
		if v.single() {
			v.widen(z[2], z[3])
			add(z[3], z[1])
		}
		add(z[2], z[0])
	})
	wide.add(z[1], z[0], z[0])
	wide.sumAcross(z[0], z[1])
	wide.moveFirst(z[0], inMemory(v.ReturnIndex(0)))
}
