package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vector is the state of a function of elements or rows.
type vector struct {
	*generator
	rest   *mask                    // of the elements of a row that do not fill a vector
	params map[string]reg.GPVirtual // integers and pointers; rows advances the pointers
	at     reg.GPVirtual            // bytes from the beginning of the row
}

// inVectors turns a method that writes the body of a kernel into the function that an entry needs. The method finds the
// parameters and the address of the constants loaded.
func inVectors(write func(*vector)) func(*generator) {
	return func(g *generator) {
		g.openTable()
		v := &vector{generator: g, rest: &mask{k: reg.K1, v: g.vectors[15]}, params: map[string]reg.GPVirtual{}}
		for _, p := range g.kernel.assembly() {
			if p.goType() != "F" {
				v.params[p.name] = g.GP64()
				g.parameter(p.name, v.params[p.name])
			}
		}
		write(v)
	}
}

// geluFactor is twice √(2/π): GELU in its tanh form is x/(1+exp(−geluFactor·(x+0.044715·x³))).
const geluFactor = 1.5957691216057307117597842397375

// vectorConstants returns the constants of all functions. Outside of least and most the exponential is 0 and ∞; tanh
// is 1 from half of tanhMost on; GELU has the slopes 0 and 1 outside of ±geluMost, and inside e^−u is finite.
func (g *generator) vectorConstants() []constant {
	others := []constant{
		{"two", 2},
		{"lowest", math.Inf(-1)},
		{"tanhMost", either(g, 20.0, 44.0)},
		{"geluMost", either(g, 9.0, 21.0)}, {"geluLeast", either(g, -9.0, -21.0)},
		{"gelu1", -geluFactor}, {"gelu3", -geluFactor * 0.044715}, {"gelu9", -3 * geluFactor * 0.044715},
		{"zero", 0}, {"minusHalf", -0.5},
		{"tailMost", 15}, {"tailScale", 0.34},
		{"density", 1 / math.Sqrt(2*math.Pi)},
		g.exponentBias(),
		{"sign", math.Copysign(0, -1)},
	}
	others = append(others, logConstants()...)
	least, most := either(g, -104.0, -746.0), either(g, 89.0, 710.0)
	return g.expConstants(least, most, append(others, numbered("tail", normalTail)...)...)
}

// row describes a row of n elements: the bytes of its whole vectors, the elements of the rest, and the bytes of both.
type row struct{ whole, rest, bytes reg.GPVirtual }

// divide divides rows of as many elements as the parameter, and makes the mask of the rest.
func (v *vector) divide(param string) row {
	n := v.params[param]
	r := row{v.GP64(), v.GP64(), v.GP64()}
	v.set(n, r.rest)
	v.keepBits(operand.U8(v.lanes()-1), r.rest)
	v.set(n, r.whole)
	v.decrease(r.rest, r.whole)
	v.shiftLeft(v.shift, r.whole)
	v.set(n, r.bytes)
	v.shiftLeft(v.shift, r.bytes)
	used := v.GP64()
	v.set(r.rest, used)
	v.makeMask(used, v.rest)
	return r
}

// each does a step for every vector of a row, without a mask, and for the rest of it.
func (v *vector) each(r row, step func(part *mask)) {
	loop, tail, done := v.label("vector"), v.label("rest"), v.label("done")
	v.at = v.GP64()
	v.clear(v.at)
	v.test(r.whole)
	v.jumpIf(none, tail)
	v.align()
	v.Label(loop)
	step(nil)
	v.increase(operand.U32(v.width), v.at)
	v.check(v.at, r.whole)
	v.jumpIf(below, loop)
	v.Label(tail)
	v.test(r.rest)
	v.jumpIf(none, done)
	step(v.rest)
	v.Label(done)
}

// elements does a step for every vector of n elements, and for the rest of them.
func (v *vector) elements(step func(part *mask)) { v.each(v.divide("n"), step) }

// rows writes the loop over rows ≥ 1 rows and advances the pointers: those with one element for each row by an element,
// the others by a row.
func (v *vector) rows(r row, body func(), pointers ...string) {
	loop := v.label("row")
	v.Label(loop)
	body()
	for _, name := range pointers {
		if v.kernel.param(name).length == "rows" {
			v.increase(operand.U8(v.size), v.params[name])
		} else {
			v.increase(r.bytes, v.params[name])
		}
	}
	v.countDown(v.params["rows"])
	v.jumpIf(other, loop)
}

// unless writes a jump over the following code if a pointer is nil.
func (g *generator) unless(p reg.GPVirtual, f func()) {
	without := g.label("without")
	g.test(p)
	g.jumpIf(none, without)
	f()
	g.Label(without)
}

func (v *vector) here(name string) operand.Mem {
	return operand.Mem{Base: v.params[name], Index: v.at, Scale: 1}
}

// load reads a vector, or the rest with zeros behind it.
func (v *vector) load(part *mask, name string, to reg.VecPhysical) { v.read(v.here(name), part, to) }

// loadLow reads a vector, or the rest with −∞, which must be held, behind it.
func (v *vector) loadLow(part *mask, name string, to reg.VecPhysical) {
	low := v.held["lowest"]
	if part != nil && v.masked {
		v.move(low, to)
		v.moveWhere(part.k, v.here(name), to)
		return
	}
	v.load(part, name, to)
	if part != nil {
		v.blend(part.v, to, low, to)
	}
}

func (v *vector) store(part *mask, from reg.VecPhysical, name string) {
	v.write(from, part, v.here(name))
}

// first returns the place of the first element that a pointer points to.
func (v *vector) first(name string) operand.Mem { return operand.Mem{Base: v.params[name]} }

func (v *vector) storeFirst(x reg.VecPhysical, name string) {
	v.moveFirst(x, v.first(name))
}

// fillParam sets every lane of x to a parameter that is a number.
func (v *vector) fillParam(name string, x reg.VecPhysical) { v.broadcast(inMemory(v.Param(name)), x) }
