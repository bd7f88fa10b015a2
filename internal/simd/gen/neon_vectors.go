package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lanes returns how Go's assembler names the lanes, and one of them.
func (n neon) lanes() (all, one string) {
	if n.g.single() {
		return "S4", "S"
	}
	return "D2", "D"
}

// known writes an instruction that Go's assembler knows, of vectors with lanes of the element's size.
func (n neon) known(name string, vectors ...int) {
	lanes, _ := n.lanes()
	n.withLanes(name, lanes, vectors...)
}

// bytes writes an instruction that Go's assembler knows, of vectors of bits.
func (n neon) bytes(name string, vectors ...int) { n.withLanes(name, "B16", vectors...) }

func (n neon) withLanes(name, lanes string, vectors ...int) {
	text := name
	for i, v := range vectors {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(" V%d.%s", v, lanes)
	}
	n.use(text)
}

func (n neon) sumTo(m operand.Mem, x, t reg.VecPhysical) {
	n.across(n.add, x, t)
	n.moveFirst(x, m)
}

func (n neon) widen(low, high reg.VecPhysical) {
	n.convert("FCVTL2", "2D", "4S", vec(low), vec(high))
	n.convert("FCVTL", "2D", "2S", vec(low), vec(low))
}

func (n neon) narrow(low, high reg.VecPhysical) {
	n.convert("FCVTN", "2S", "2D", vec(low), vec(low))
	n.convert("FCVTN2", "4S", "2D", vec(high), vec(low))
}

func (n neon) hide(lowest, row, lo, hi, t, u reg.VecPhysical, m operand.Mem) {
	n.compare(lessThan, lo, row, t)
	n.compare(notLessOrNaN, hi, row, u)
	n.or(u, t, t)
	n.move(m, u)
	n.blend(t, lowest, u, u)
	n.move(u, m)
}

func (n neon) zero(x reg.VecPhysical)          { n.bytes("VEOR", vec(x), vec(x), vec(x)) }
func (n neon) add(y, x, z operand.Op)          { n.three("FADD", n.in(y), vec(x), vec(z)) }
func (n neon) sub(y, x, z operand.Op)          { n.three("FSUB", n.in(y), vec(x), vec(z)) }
func (n neon) mul(y, x, z operand.Op)          { n.three("FMUL", n.in(y), vec(x), vec(z)) }
func (n neon) div(y, x, z operand.Op)          { n.three("FDIV", n.in(y), vec(x), vec(z)) }
func (n neon) max(y, x, z operand.Op)          { n.three("FMAX", n.in(y), vec(x), vec(z)) }
func (n neon) min(y, x, z operand.Op)          { n.three("FMIN", n.in(y), vec(x), vec(z)) }
func (n neon) sqrt(x, z operand.Op)            { n.two("FSQRT", n.in(x), vec(z)) }
func (n neon) fma(y, x, acc operand.Op)        { n.known("VFMLA", n.in(y), vec(x), vec(acc)) }
func (n neon) fnma(y, x, acc operand.Op)       { n.known("VFMLS", n.in(y), vec(x), vec(acc)) }
func (n neon) and(y, x, z operand.Op)          { n.bytes("VAND", n.in(y), vec(x), vec(z)) }
func (n neon) or(y, x, z operand.Op)           { n.bytes("VORR", n.in(y), vec(x), vec(z)) }
func (n neon) bare(sign, x, z operand.Op)      { n.clearBits(n.in(sign), vec(x), vec(z)) }
func (n neon) clearWhere(m, x reg.VecPhysical) { n.clearBits(vec(m), vec(x), vec(x)) }

func (n neon) greater(y, x, z operand.Op) {
	n.three("FCMGT", vec(y), vec(x), spare)
	n.choose(spare, vec(x), vec(y), vec(z))
}

// chain uses two registers alternately, because a product can only be added to the register of the sum.
func (n neon) chain(terms []operand.Op, x, y reg.VecPhysical) {
	last := n.take(terms, vec(x), vec(y), spare)
	if last != vec(y) {
		n.bytes("VMOV", last, vec(y))
	}
}

func (n neon) polynomial(terms []operand.Op, x, y reg.VecPhysical) {
	from, other := vec(y), spare
	if len(terms)%2 == 0 { // so that the last is y
		from, other = other, from
	}
	n.copyOf(terms[0], from)
	n.take(terms[1:], vec(x), from, other)
}

// take begins with y in register from, and returns the final register.
func (n neon) take(terms []operand.Op, x, from, other int) int {
	for _, t := range terms {
		n.copyOf(t, other)
		n.known("VFMLA", x, from, other)
		from, other = other, from
	}
	return from
}

func (n neon) round(x, z operand.Op) { n.two("FRINTN", vec(x), vec(z)) }

func (n neon) power(x, z reg.VecPhysical) {
	n.two("FCVTNS", vec(x), vec(z))
	n.exponent(vec(z))
}

func (n neon) twoPowers(x, s reg.VecPhysical) {
	n.two("FCVTNS", vec(x), vec(x))
	n.halve(vec(x), vec(s))
	n.known("VSUB", vec(s), vec(x), vec(x))
	n.exponent(vec(x))
	n.exponent(vec(s))
}

// exponent turns integers into powers of 2.
func (n neon) exponent(x int) {
	n.known("VADD", n.in(n.g.constant("bias")), x, x)
	n.known(fmt.Sprintf("VSHL $%d,", either(n.g, 23, 52)), x, x)
}

func (n neon) shiftRight(bits operand.U8, x, z operand.Op) {
	n.known(fmt.Sprintf("VUSHR $%d,", bits), vec(x), vec(z))
}

// across swaps halves, and then the halves of these: every lane has the result at once.
func (n neon) across(op func(y, x, z operand.Op), x, t reg.VecPhysical) {
	n.bytes("VEXT $8,", vec(x), vec(x), vec(t))
	op(t, x, x)
	if n.g.single() {
		n.known("VREV64", vec(x), vec(t))
		op(t, x, x)
	}
}

func (n neon) compare(p predicate, y, x, m operand.Op) {
	b, a, z := n.in(y), vec(x), vec(m)
	switch p {
	case equal:
		n.three("FCMEQ", b, a, z)
	case lessThan, notLessOrNaN:
		n.three("FCMGT", a, b, z)
	case lessOrEqualTo:
		n.three("FCMGE", a, b, z)
	case unordered:
		n.three("FCMEQ", b, b, spare)
		n.three("FCMEQ", a, a, z)
		n.bytes("VAND", spare, z, z)
	}
	if p == notLessOrNaN || p == unordered {
		n.not(z, z)
	}
}

func (n neon) blend(m, y, x, z operand.Op) { n.choose(vec(m), vec(y), vec(x), vec(z)) }

// choose sets z to y where m is all ones, else to x.
func (n neon) choose(m, y, x, z int) {
	switch z {
	case x:
		n.bytes("VBIT", m, y, z)
	case y:
		n.bytes("VBIF", m, x, z)
	case m:
		n.bytes("VBSL", x, y, z)
	default:
		n.bytes("VMOV", x, z)
		n.bytes("VBIT", m, y, z)
	}
}

func (n neon) replaceNegative(sign, x, y reg.VecPhysical) {
	n.two("CMLT", vec(sign), spare)
	n.choose(spare, vec(x), vec(y), vec(y))
}
