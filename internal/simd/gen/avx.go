package main

import (
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// avx is the target of processors with AVX2 or AVX-512. Its instructions for vectors stand in instruction.go and
// mask.go.
type avx struct{ g *generator }

func newAVX(g *generator) target { return avx{g} }

func (a avx) set(x, r operand.Op)                 { a.g.MOVQ(x, r) }
func (a avx) clear(r reg.GPVirtual)               { a.g.XORQ(r, r) }
func (a avx) increase(by, r operand.Op)           { a.g.ADDQ(by, r) }
func (a avx) decrease(by, r operand.Op)           { a.g.SUBQ(by, r) }
func (a avx) countDown(r operand.Op)              { a.g.DECQ(r) }
func (a avx) shiftLeft(bits, r operand.Op)        { a.g.SHLQ(bits, r) }
func (a avx) keepBits(bits, r operand.Op)         { a.g.ANDQ(bits, r) }
func (a avx) times(factor, x, r operand.Op)       { a.g.IMUL3Q(factor, x, r) }
func (a avx) test(r operand.Op)                   { a.g.TESTQ(r, r) }
func (a avx) check(r, x operand.Op)               { a.g.CMPQ(r, x) }
func (a avx) jump(label string)                   { a.g.JMP(operand.LabelRef(label)) }
func (a avx) address(m operand.Mem, r operand.Op) { a.g.LEAQ(m, r) }
func (a avx) prefetch(m operand.Mem)              { a.g.PREFETCHT1(m) }

func (a avx) jumpIf(c condition, label string) {
	g := a.g
	map[condition]func(operand.Op){none: g.JE, same: g.JEQ, other: g.JNE, below: g.JLT, notBelow: g.JGE,
		above: g.JGT, notAbove: g.JLE}[c](operand.LabelRef(label))
}

func (a avx) parameter(name string, r reg.GPVirtual) { a.g.Load(a.g.Param(name), r) }

// align makes the speed of a loop independent of its address.
func (a avx) align() {
	a.g.Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []operand.Op{operand.U8(64)}})
}

func (a avx) leave() {
	a.g.VZEROUPPER()
	a.g.RET()
}

func (a avx) moveFirst(from reg.VecPhysical, to operand.Mem) {
	either(a.g, a.g.VMOVSS, a.g.VMOVSD)(from.AsX(), to)
}

func (a avx) fill(x reg.VecPhysical, value float64) {
	g := a.g
	bits := g.GP64()
	if g.single() {
		g.MOVL(g.bits(value), bits.As32())
		g.VMOVD(bits.As32(), x.AsX())
	} else {
		g.MOVQ(g.bits(value), bits)
		g.VMOVQ(bits, x.AsX())
	}
	a.broadcast(x.AsX(), x)
}

func (a avx) fillInteger(n reg.GPVirtual, x reg.VecPhysical) {
	a.zero(x)
	either(a.g, a.g.VCVTSI2SSQ, a.g.VCVTSI2SDQ)(n, x.AsX(), x.AsX())
	a.broadcast(x.AsX(), x)
}

func (a avx) sumTo(m operand.Mem, acc, t reg.VecPhysical) {
	g := a.g
	x, y := acc.AsX(), acc.AsY()
	if g.masked {
		g.VEXTRACTF64X4(operand.U8(1), acc, t.AsY())
		a.add(t.AsY(), y, y)
	}
	g.VEXTRACTF128(operand.U8(1), y, t.AsX())
	a.add(t.AsX(), x, x)
	if g.single() {
		g.VHADDPS(x, x, x)
		g.VHADDPS(x, x, x)
	} else {
		g.VHADDPD(x, x, x)
	}
	either(a.g, a.g.VMOVSS, a.g.VMOVSD)(x, m)
}

func (a avx) widen(low, high reg.VecPhysical) {
	g := a.g
	if g.masked {
		g.VEXTRACTF64X4(operand.U8(1), low, high.AsY())
		g.VCVTPS2PD(low.AsY(), low)
		g.VCVTPS2PD(high.AsY(), high)
		return
	}
	g.VEXTRACTF128(operand.U8(1), low, high.AsX())
	g.VCVTPS2PD(low.AsX(), low)
	g.VCVTPS2PD(high.AsX(), high)
}

func (a avx) narrow(low, high reg.VecPhysical) {
	g := a.g
	if g.masked {
		g.VCVTPD2PS(low, low.AsY())
		g.VCVTPD2PS(high, high.AsY())
		g.VINSERTF64X4(operand.U8(1), high.AsY(), low, low)
		return
	}
	g.VCVTPD2PSY(low, low.AsX())
	g.VCVTPD2PSY(high, high.AsX())
	g.VINSERTF128(operand.U8(1), high.AsX(), low, low)
}

func (a avx) hide(lowest, row, lo, hi, t, u reg.VecPhysical, m operand.Mem) {
	g := a.g
	if g.masked {
		a.compare(lessThan, lo, row, reg.K1)
		a.compare(notLessOrNaN, hi, row, reg.K2)
		g.KORW(reg.K1, reg.K2, reg.K1)
		g.moveWhere(reg.K1, lowest, m)
		return
	}
	a.compare(lessThan, lo, row, t)
	a.compare(notLessOrNaN, hi, row, u)
	g.VORPS(t, u, t)
	a.move(m, u)
	g.VBLENDVPS(t, lowest, u, u)
	a.move(u, m)
}

// The result of max is its second operand, which is the first here, if any operand is NaN or both are zeros.
func (a avx) greater(y, x, z operand.Op) { a.max(y, x, z) }

func (a avx) chain(terms []operand.Op, x, y reg.VecPhysical) {
	for _, t := range terms {
		either(a.g, a.g.VFMADD213PS, a.g.VFMADD213PD)(t, x, y)
	}
}

func (a avx) polynomial(terms []operand.Op, x, y reg.VecPhysical) {
	a.move(terms[0], y)
	a.chain(terms[1:], x, y)
}

func (a avx) power(n, z reg.VecPhysical) {
	g := a.g
	switch {
	case g.masked:
		g.scalef(n, g.constant("one"), z)
		return
	case g.single():
		g.VCVTPS2DQ(n, z)
	default:
		g.VCVTPD2DQY(n, z.AsX())
		g.VPMOVSXDQ(z.AsX(), z)
	}
	a.exponent(z)
}

func (a avx) twoPowers(n, s reg.VecPhysical) {
	g := a.g
	if g.single() {
		g.VCVTPS2DQ(n, n)
		g.VPSRAD(operand.U8(1), n, s)
		g.VPSUBD(s, n, n)
	} else {
		g.VCVTPD2DQY(n, n.AsX())
		g.VPSRAD(operand.U8(1), n.AsX(), s.AsX())
		g.VPSUBD(s.AsX(), n.AsX(), n.AsX())
		g.VPMOVSXDQ(s.AsX(), s)
		g.VPMOVSXDQ(n.AsX(), n)
	}
	a.exponent(n)
	a.exponent(s)
}

// exponent turns integers n into the numbers 2ⁿ.
func (a avx) exponent(n reg.VecPhysical) {
	g := a.g
	if g.single() {
		g.VPADDD(g.constant("bias"), n, n)
		g.VPSLLD(operand.U8(23), n, n)
	} else {
		g.VPADDQ(g.constant("bias"), n, n)
		g.VPSLLQ(operand.U8(52), n, n)
	}
}

func (a avx) clearWhere(m, x reg.VecPhysical) { either(a.g, a.g.VANDNPS, a.g.VANDNPD)(x, m, x) }

func (a avx) shiftRight(bits operand.U8, x, z operand.Op) { a.g.VPSRLQ(bits, x, z) }

func (a avx) replaceNegative(sign, x, y reg.VecPhysical) {
	g := a.g
	if g.masked {
		const less = predicate(1)
		a.compare(less, g.held["zero"], sign, reg.K2)
		g.moveWhere(reg.K2, x, y)
		return
	}
	a.blend(sign, x, y, y)
}
