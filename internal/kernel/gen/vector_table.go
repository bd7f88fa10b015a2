package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A constant is a vector with the same number, or the same bits, in every lane.
type constant struct {
	name           string
	single, double float64
	isBits         bool
	bits           [2]uint64
}

// constants returns the constants of all functions. ln 2 is split so that the product of its high part with an integer
// exponent is exact. Outside of least and most the exponential is 0 and ∞; tanh is 1 from half of tanhMost on;
// GELU has the slopes 0 and 1 outside of ±geluMost, and inside e^−u is finite.
func (v *vector) constants() []constant {
	list := []constant{
		{name: "least", single: -104, double: -746}, {name: "most", single: 89, double: 710},
		{name: "log2e", single: math.Log2E, double: math.Log2E},
		{name: "high", single: 0x1.62e4p-1, double: 0x1.62e42feep-1},
		{name: "low", single: math.Ln2 - 0x1.62e4p-1, double: math.Ln2 - 0x1.62e42feep-1},
		{name: "one", single: 1, double: 1}, {name: "two", single: 2, double: 2},
		{name: "lowest", single: math.Inf(-1), double: math.Inf(-1)},
		{name: "tanhMost", single: 20, double: 44},
		{name: "geluMost", single: 9, double: 21}, {name: "geluLeast", single: -9, double: -21},
		{name: "gelu1", single: -geluFactor, double: -geluFactor},
		{name: "gelu3", single: -geluFactor * 0.044715, double: -geluFactor * 0.044715},
		{name: "gelu9", single: -3 * geluFactor * 0.044715, double: -3 * geluFactor * 0.044715},
		{name: "zero"}, {name: "minusHalf", single: -0.5, double: -0.5},
		{name: "tailMost", single: 15, double: 15}, {name: "tailScale", single: 0.34, double: 0.34},
		{name: "density", single: 1 / math.Sqrt(2*math.Pi), double: 1 / math.Sqrt(2*math.Pi)},
		{name: "bias", isBits: true, bits: [2]uint64{127, 1023}},
		{name: "sign", isBits: true, bits: [2]uint64{1 << 31, 1 << 63}},
	}
	for i, c := range normalTail {
		list = append(list, constant{name: "tail" + itoa(i), single: c, double: c})
	}
	for i := range v.polynomial() {
		c := constant{name: "c" + itoa(i)}
		if v.single() {
			c.single = expSingle[i]
		} else {
			c.double = expDouble[i]
		}
		list = append(list, c)
	}
	return list
}

// geluFactor is twice √(2/π): GELU in its tanh form is x/(1+exp(−geluFactor·(x+0.044715·x³))).
const geluFactor = 1.5957691216057307117597842397375

func (v *vector) polynomial() []float64 {
	if v.single() {
		return expSingle
	}
	return expDouble
}

func (v *vector) makeTable() {
	v.StaticGlobal(v.letter + "constants")
	v.DataAttributes(attr.RODATA | attr.NOPTR)
	for i, c := range v.constants() {
		for lane := range v.lanes() {
			at := i*v.width + lane*v.size
			switch {
			case v.single() && c.isBits:
				v.AddDatum(at, operand.U32(c.bits[0]))
			case v.single():
				v.AddDatum(at, operand.U32(math.Float32bits(float32(c.single))))
			case c.isBits:
				v.AddDatum(at, operand.U64(c.bits[1]))
			default:
				v.AddDatum(at, operand.U64(math.Float64bits(c.double)))
			}
		}
	}
}

// hold loads a constant into a register.
func (v *vector) hold(name string, r reg.VecPhysical) reg.VecPhysical {
	v.move(v.constantAt(name), r)
	v.held[name] = r
	return r
}

// holdExp loads the constants of exp: all if there are registers enough, else those that must have one.
func (v *vector) holdExp() {
	v.hold("least", v.vectors[13])
	v.hold("most", v.vectors[14])
	if !v.masked {
		return
	}
	names := []string{"log2e", "high", "low", "one"}
	for i := range v.polynomial() {
		names = append(names, "c"+itoa(i))
	}
	for i, name := range names {
		v.hold(name, v.vectors[16+i])
	}
}

func (v *vector) constantAt(name string) operand.Mem {
	for i, c := range v.constants() {
		if c.name == name {
			return operand.Mem{Base: v.table, Disp: i * v.width}
		}
	}
	panic("gen: no constant " + name)
}

// constant returns the register that holds a constant, or its place in memory.
func (v *vector) constant(name string) operand.Op {
	if r, ok := v.held[name]; ok {
		return r
	}
	return v.constantAt(name)
}
