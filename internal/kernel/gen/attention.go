package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// attention is the state of a function under way: where it finds its constants.
type attention struct {
	*generator
	place map[string]operand.Op
}

// inTile makes of a method that writes the body of a kernel what its entry wants.
func inTile(write func(*attention)) func(*generator) {
	return func(g *generator) { write(&attention{generator: g}) }
}

// Predicates of comparisons: false for NaN, unless named otherwise.
const (
	lessThan      = operand.U8(0x11)
	notEqualOrNaN = operand.U8(0x04)
	notLessOrNaN  = operand.U8(0x15)
)

// compare sets m to all ones where "x predicate y".
func (a *attention) compare(predicate operand.U8, y, x, m operand.Op) {
	a.either(a.VCMPPS, a.VCMPPD)(predicate, y, x, m)
}

// either chooses the instruction for the type of the elements.
func (g *generator) either(single, double func(...operand.Op)) func(...operand.Op) {
	if g.single() {
		return single
	}
	return double
}

// load loads parameters that are integers or pointers; ld becomes bytes.
func (a *attention) load(names ...string) []reg.GPVirtual {
	var regs []reg.GPVirtual
	for _, name := range names {
		r := a.GP64()
		a.Load(a.Param(name), r)
		if name == "ld" {
			a.SHLQ(a.shift, r)
		}
		regs = append(regs, r)
	}
	return regs
}

// columns goes over n columns, one vector at a time, and inside over the rows. Between, before sets up and
// after finishes a column; advance are pointers that go along with the columns.
func (a *attention) columns(rows, n, x, ld reg.GPVirtual, advance []reg.GPVirtual,
	before func(), row func(operand.Mem), after func()) {
	column, line := a.label("column"), a.label("row")
	at, left := a.GP64(), a.GP64()
	a.Label(column)
	before()
	a.MOVQ(x, at)
	a.MOVQ(rows, left)
	a.Label(line)
	row(operand.Mem{Base: at})
	a.ADDQ(ld, at)
	a.DECQ(left)
	a.JNE(operand.LabelRef(line))
	after()
	for _, p := range append(advance, x) {
		a.ADDQ(operand.U32(a.width), p)
	}
	a.SUBQ(operand.U32(a.lanes()), n)
	a.JGT(operand.LabelRef(column))
	a.VZEROUPPER()
	a.RET()
}

func (a *attention) maxColumns() {
	r := a.load("rows", "n", "x", "ld", "top")
	top, v := r[4], a.vectors
	a.columns(r[0], r[1], r[2], r[3], []reg.GPVirtual{top},
		func() { a.move(operand.Mem{Base: r[2]}, v[0]) },
		func(m operand.Mem) { a.either(a.VMAXPS, a.VMAXPD)(m, v[0], v[0]) },
		func() { a.move(v[0], operand.Mem{Base: top}) })
}

func (a *attention) expColumns() {
	r := a.load("rows", "n", "x", "ld", "shift", "sum")
	shift, sum, v := r[4], r[5], a.vectors
	a.constants(v[6], v[7])
	a.columns(r[0], r[1], r[2], r[3], []reg.GPVirtual{shift, sum},
		func() {
			a.move(operand.Mem{Base: shift}, v[0])
			a.move(operand.Mem{Base: sum}, v[1])
		},
		func(m operand.Mem) {
			a.move(m, v[2])
			a.either(a.VSUBPS, a.VSUBPD)(v[0], v[2], v[2])
			a.exp(v[2], v[3], v[4], v[5])
			a.move(v[2], m)
			a.add(v[2], v[1], v[1])
		},
		func() { a.move(v[1], operand.Mem{Base: sum}) })
}

func (a *attention) hideColumns() {
	r := a.load("rows", "n", "x", "ld", "lo", "hi")
	lo, hi, v := r[4], r[5], a.vectors
	one, row, lowest := v[2], v[3], v[4]
	a.fill(one, 1)
	a.fill(lowest, math.Inf(-1))
	a.columns(r[0], r[1], r[2], r[3], []reg.GPVirtual{lo, hi},
		func() {
			a.move(operand.Mem{Base: lo}, v[0])
			a.move(operand.Mem{Base: hi}, v[1])
			a.zero(row)
		},
		func(m operand.Mem) {
			if a.masked {
				a.compare(lessThan, v[0], row, reg.K1)
				a.compare(notLessOrNaN, v[1], row, reg.K2)
				a.KORW(reg.K1, reg.K2, reg.K1)
				a.either(a.VMOVUPS, a.VMOVUPD)(lowest, reg.K1, m)
			} else {
				a.compare(lessThan, v[0], row, v[5])
				a.compare(notLessOrNaN, v[1], row, v[6])
				a.VORPS(v[5], v[6], v[5])
				a.move(m, v[6])
				a.VBLENDVPS(v[5], lowest, v[6], v[6])
				a.move(v[6], m)
			}
			a.add(one, row, row)
		},
		func() {})
}

// fill sets every lane to a constant.
func (a *attention) fill(v reg.VecPhysical, x float64) {
	bits := a.GP64()
	if a.single() {
		a.MOVL(operand.U32(math.Float32bits(float32(x))), bits.As32())
		a.VMOVD(bits.As32(), v.AsX())
		a.VBROADCASTSS(v.AsX(), v)
		return
	}
	a.MOVQ(operand.U64(math.Float64bits(x)), bits)
	a.VMOVQ(bits, v.AsX())
	a.VBROADCASTSD(v.AsX(), v)
}
