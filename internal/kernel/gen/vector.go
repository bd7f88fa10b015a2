package main

import (
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// inVectors makes of a method that writes the body of a kernel what its entry wants.
func inVectors(write func(*vector)) func(*generator) {
	return func(g *generator) {
		write(&vector{generator: g, mask: mask{k: reg.K1, v: g.vectors[15]}, held: map[string]reg.VecPhysical{}})
	}
}

// vector is the state of a function under way.
type vector struct {
	*generator
	mask  mask
	table reg.GPVirtual
	held  map[string]reg.VecPhysical // constants in registers
	at    reg.GPVirtual              // bytes from the beginning of the row
}

// open loads the address of the constants, and the parameters that are integers and pointers.
func (v *vector) open() map[string]reg.GPVirtual {
	v.table = v.GP64()
	v.LEAQ(operand.NewDataAddr(operand.NewStaticSymbol(v.letter+"constants"), 0), v.table)
	loaded := map[string]reg.GPVirtual{}
	for _, p := range v.kernel.assembly() {
		if p.goType() != "F" {
			loaded[p.name] = v.GP64()
			v.Load(v.Param(p.name), loaded[p.name])
		}
	}
	return loaded
}

func (v *vector) shut() {
	v.VZEROUPPER()
	v.RET()
}

// row describes a row of n elements: the bytes of its whole vectors, and the elements of the rest, whose mask
// is made.
type row struct{ whole, rest, bytes reg.GPVirtual }

func (v *vector) divide(n reg.GPVirtual) row {
	r := row{v.GP64(), v.GP64(), v.GP64()}
	v.MOVQ(n, r.rest)
	v.ANDQ(operand.U8(v.lanes()-1), r.rest)
	v.MOVQ(n, r.whole)
	v.SUBQ(r.rest, r.whole)
	v.SHLQ(v.shift, r.whole)
	v.MOVQ(n, r.bytes)
	v.SHLQ(v.shift, r.bytes)
	used := v.GP64()
	v.MOVQ(r.rest, used)
	v.makeMask(used, v.mask)
	return r
}

// each does a step for every vector of a row, and for the rest of it.
func (v *vector) each(r row, step func(part bool)) {
	loop, tail, done := v.label("vector"), v.label("rest"), v.label("done")
	v.at = v.GP64()
	v.XORQ(v.at, v.at)
	v.TESTQ(r.whole, r.whole)
	v.JE(operand.LabelRef(tail))
	v.align()
	v.Label(loop)
	step(false)
	v.ADDQ(operand.U32(v.width), v.at)
	v.CMPQ(v.at, r.whole)
	v.JLT(operand.LabelRef(loop))
	v.Label(tail)
	v.TESTQ(r.rest, r.rest)
	v.JE(operand.LabelRef(done))
	step(true)
	v.Label(done)
}

// align makes the next instruction begin a cache line, so that the speed of a loop does not depend on where the
// linker puts it.
func (v *vector) align() {
	v.Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []operand.Op{operand.U8(64)}})
}

// rows does body for each of rows ≥ 1 rows, along which the pointers go.
func (v *vector) rows(rows reg.GPVirtual, r row, body func(), pointers ...reg.GPVirtual) {
	loop := v.label("row")
	v.Label(loop)
	body()
	for _, p := range pointers {
		v.ADDQ(r.bytes, p)
	}
	v.DECQ(rows)
	v.JNE(operand.LabelRef(loop))
}

func (v *vector) here(p reg.GPVirtual) operand.Mem {
	return operand.Mem{Base: p, Index: v.at, Scale: 1}
}

// load reads a vector, or the rest with zeros behind it.
func (v *vector) load(part bool, p reg.GPVirtual, to reg.VecPhysical) {
	if part {
		v.loadMasked(v.here(p), v.mask, to)
	} else {
		v.move(v.here(p), to)
	}
}

// loadLow reads a vector, or the rest with −∞, which must be held, behind it.
func (v *vector) loadLow(part bool, p reg.GPVirtual, to reg.VecPhysical) {
	switch low := v.held["lowest"]; {
	case !part:
		v.move(v.here(p), to)
	case v.masked:
		v.move(low, to)
		v.either(v.VMOVUPS, v.VMOVUPD)(v.here(p), v.mask.k, to)
	default:
		v.loadMasked(v.here(p), v.mask, to)
		v.blend(v.mask.v, to, low, to)
	}
}

func (v *vector) store(part bool, from reg.VecPhysical, p reg.GPVirtual) {
	if part {
		v.storeMasked(from, v.mask, v.here(p))
	} else {
		v.move(from, v.here(p))
	}
}

func (v *vector) sub(y, x, z operand.Op)    { v.either(v.VSUBPS, v.VSUBPD)(y, x, z) }
func (v *vector) div(y, x, z operand.Op)    { v.either(v.VDIVPS, v.VDIVPD)(y, x, z) }
func (v *vector) max(y, x, z operand.Op)    { v.either(v.VMAXPS, v.VMAXPD)(y, x, z) }
func (v *vector) min(y, x, z operand.Op)    { v.either(v.VMINPS, v.VMINPD)(y, x, z) }
func (v *vector) sqrt(x, z operand.Op)      { v.either(v.VSQRTPS, v.VSQRTPD)(x, z) }
func (v *vector) fma213(z, y, x operand.Op) { v.either(v.VFMADD213PS, v.VFMADD213PD)(z, y, x) }
func (v *vector) fnma(y, x, z operand.Op)   { v.either(v.VFNMADD231PS, v.VFNMADD231PD)(y, x, z) }

// blend takes the lanes of y where m is all ones, and those of x elsewhere.
func (v *vector) blend(m, y, x, z operand.Op) {
	if v.single() {
		v.VBLENDVPS(m, y, x, z)
	} else {
		v.VBLENDVPD(m, y, x, z)
	}
}

// and, or are of bits; AVX-512 without DQ has them for integers only.
func (v *vector) and(y, x, z operand.Op) {
	if v.masked {
		v.VPANDQ(y, x, z)
	} else {
		v.VANDPS(y, x, z)
	}
}

func (v *vector) or(y, x, z operand.Op) {
	if v.masked {
		v.VPORQ(y, x, z)
	} else {
		v.VORPS(y, x, z)
	}
}

// bare sets z to |x|: the sign is held.
func (v *vector) bare(sign, x, z operand.Op) {
	if v.masked {
		v.VPANDNQ(x, sign, z)
	} else {
		v.VANDNPS(x, sign, z)
	}
}

// replaceWhereEqual sets x to y where a equals b; t is free.
func (v *vector) replaceWhereEqual(a, b operand.Op, y, x, t reg.VecPhysical) {
	const equal = operand.U8(0)
	if v.masked {
		v.either(v.VCMPPS, v.VCMPPD)(equal, b, a, reg.K2)
		v.either(v.VMOVUPS, v.VMOVUPD)(y, reg.K2, x)
		return
	}
	v.either(v.VCMPPS, v.VCMPPD)(equal, b, a, t)
	v.blend(t, y, x, x)
}

// across combines all lanes of x and leaves the result in each; t is free. The halves of x are combined, then
// the halves of what that gives, and so on.
func (v *vector) across(single, double func(...operand.Op), x, t reg.VecPhysical) {
	op := v.either(single, double)
	if v.masked {
		v.VEXTRACTF64X4(operand.U8(1), x, t.AsY())
		op(t.AsY(), x.AsY(), x.AsY())
	}
	v.VEXTRACTF128(operand.U8(1), x.AsY(), t.AsX())
	op(t.AsX(), x.AsX(), x.AsX())
	v.VPERMILPD(operand.U8(1), x.AsX(), t.AsX())
	op(t.AsX(), x.AsX(), x.AsX())
	if v.single() {
		v.VMOVSHDUP(x.AsX(), t.AsX())
		op(t.AsX(), x.AsX(), x.AsX())
	}
	v.broadcast(x.AsX(), x)
}

func (v *vector) sumAcross(x, t reg.VecPhysical) { v.across(v.VADDPS, v.VADDPD, x, t) }
