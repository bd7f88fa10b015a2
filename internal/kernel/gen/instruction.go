package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// either chooses, between two instructions or numbers, that for the type of the elements.
func either[T any](g *generator, single, double T) T {
	if g.single() {
		return single
	}
	return double
}

func (g *generator) move(from, to operand.Op)    { either(g, g.VMOVUPS, g.VMOVUPD)(from, to) }
func (g *generator) broadcast(m, v operand.Op)   { either(g, g.VBROADCASTSS, g.VBROADCASTSD)(m, v) }
func (g *generator) add(y, x, z operand.Op)      { either(g, g.VADDPS, g.VADDPD)(y, x, z) }
func (g *generator) sub(y, x, z operand.Op)      { either(g, g.VSUBPS, g.VSUBPD)(y, x, z) }
func (g *generator) mul(y, x, z operand.Op)      { either(g, g.VMULPS, g.VMULPD)(y, x, z) }
func (g *generator) div(y, x, z operand.Op)      { either(g, g.VDIVPS, g.VDIVPD)(y, x, z) }
func (g *generator) max(y, x, z operand.Op)      { either(g, g.VMAXPS, g.VMAXPD)(y, x, z) }
func (g *generator) min(y, x, z operand.Op)      { either(g, g.VMINPS, g.VMINPD)(y, x, z) }
func (g *generator) sqrt(x, z operand.Op)        { either(g, g.VSQRTPS, g.VSQRTPD)(x, z) }
func (g *generator) fma(y, x, acc operand.Op)    { either(g, g.VFMADD231PS, g.VFMADD231PD)(y, x, acc) }
func (g *generator) fma213(z, y, x operand.Op)   { either(g, g.VFMADD213PS, g.VFMADD213PD)(z, y, x) }
func (g *generator) fnma(y, x, acc operand.Op)   { either(g, g.VFNMADD231PS, g.VFNMADD231PD)(y, x, acc) }
func (g *generator) scalef(y, x, z operand.Op)   { either(g, g.VSCALEFPS, g.VSCALEFPD)(y, x, z) }
func (g *generator) blend(m, y, x, z operand.Op) { either(g, g.VBLENDVPS, g.VBLENDVPD)(m, y, x, z) }

// scalefWhere is scalef in the lanes of a mask register; the others become 0.
func (g *generator) scalefWhere(k reg.OpmaskPhysical, y, x, z operand.Op) {
	either(g, g.VSCALEFPS_Z, g.VSCALEFPD_Z)(y, x, k, z)
}

// moveWhere moves the lanes of a mask register.
func (g *generator) moveWhere(k reg.OpmaskPhysical, from, to operand.Op) {
	either(g, g.VMOVUPS, g.VMOVUPD)(from, k, to)
}

// bySet chooses, between two instructions, that for the instruction set: one that AVX-512 has without DQ, or AVX2.
func bySet[T any](g *generator, masked, other T) T {
	if g.masked {
		return masked
	}
	return other
}

func (g *generator) zero(x reg.VecPhysical) { bySet(g, g.VPXORD, g.VXORPS)(x, x, x) }
func (g *generator) and(y, x, z operand.Op) { bySet(g, g.VPANDQ, g.VANDPS)(y, x, z) }
func (g *generator) or(y, x, z operand.Op)  { bySet(g, g.VPORQ, g.VORPS)(y, x, z) }

// bare sets z to |x|: the sign is held.
func (g *generator) bare(sign, x, z operand.Op) { bySet(g, g.VPANDNQ, g.VANDNPS)(x, sign, z) }

// Directions of rounding to an integer.
const (
	nearest = operand.U8(8)
	down    = operand.U8(9)
	up      = operand.U8(10)
)

// round rounds to an integer.
func (g *generator) round(direction operand.U8, x, z operand.Op) {
	if g.masked {
		either(g, g.VRNDSCALEPS, g.VRNDSCALEPD)(direction, x, z)
	} else {
		either(g, g.VROUNDPS, g.VROUNDPD)(direction, x, z)
	}
}

// Predicates of comparisons: false for NaN, unless named otherwise.
const (
	equal         = operand.U8(0x00)
	unordered     = operand.U8(0x03) // either is NaN
	notEqualOrNaN = operand.U8(0x04)
	lessThan      = operand.U8(0x11)
	lessOrEqualTo = operand.U8(0x12)
	notLessOrNaN  = operand.U8(0x15)
)

// compare sets m to all ones where "x predicate y".
func (g *generator) compare(predicate operand.U8, y, x, m operand.Op) {
	either(g, g.VCMPPS, g.VCMPPD)(predicate, y, x, m)
}

// across combines all lanes of x and leaves the result in each; t is free. The halves of x are combined, then
// the halves of what that gives, and so on.
func (g *generator) across(op func(y, x, z operand.Op), x, t reg.VecPhysical) {
	if g.masked {
		g.VEXTRACTF64X4(operand.U8(1), x, t.AsY())
		op(t.AsY(), x.AsY(), x.AsY())
	}
	g.VEXTRACTF128(operand.U8(1), x.AsY(), t.AsX())
	op(t.AsX(), x.AsX(), x.AsX())
	g.VPERMILPD(operand.U8(1), x.AsX(), t.AsX())
	op(t.AsX(), x.AsX(), x.AsX())
	if g.single() {
		g.VMOVSHDUP(x.AsX(), t.AsX())
		op(t.AsX(), x.AsX(), x.AsX())
	}
	g.broadcast(x.AsX(), x)
}

func (g *generator) sumAcross(x, t reg.VecPhysical) { g.across(g.add, x, t) }
