package main

import (
	"math"
	"slices"
	"strconv"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A constant fills a vector with a number, or with the bits of a number.
type constant struct {
	name  string
	value float64
}

// numbered returns constants called name0, name1, ….
func numbered(name string, values []float64) []constant {
	list := make([]constant, len(values))
	for i, x := range values {
		list[i] = constant{name + strconv.Itoa(i), x}
	}
	return list
}

// bits returns an operand with the bits of x as an element.
func (g *generator) bits(x float64) operand.Constant {
	if g.single() {
		return operand.U32(math.Float32bits(float32(x)))
	}
	return operand.U64(math.Float64bits(x))
}

// writeConstants writes the table of the constants.
func (g *generator) writeConstants() {
	g.StaticGlobal(g.letter + "constants")
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i, c := range g.constants {
		for lane := range g.lanes() {
			g.AddDatum(i*g.width+lane*g.size, g.bits(c.value))
		}
	}
}

// openTable loads the address of the table.
func (g *generator) openTable() {
	g.table = g.GP64()
	g.address(operand.NewDataAddr(operand.NewStaticSymbol(g.letter+"constants"), 0), g.table)
}

// hold loads a constant into a register.
func (g *generator) hold(name string, r reg.VecPhysical) reg.VecPhysical {
	g.move(g.constantAt(name), r)
	g.held[name] = r
	return r
}

// constant returns the register that holds a constant, or its place in memory.
func (g *generator) constant(name string) operand.Op {
	if r, ok := g.held[name]; ok {
		return r
	}
	return g.constantAt(name)
}

func (g *generator) constantAt(name string) operand.Mem {
	i := slices.IndexFunc(g.constants, func(c constant) bool { return c.name == name })
	if i < 0 {
		panic("gen: no constant " + name)
	}
	return operand.Mem{Base: g.table, Disp: i * g.width}
}
