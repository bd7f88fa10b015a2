package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// either returns, of two instructions or numbers, the one for the type of the elements.
func either[T any](g *generator, single, double T) T {
	if g.single() {
		return single
	}
	return double
}

func (a avx) move(from, to operand.Op)         { either(a.g, a.g.VMOVUPS, a.g.VMOVUPD)(from, to) }
func (a avx) broadcast(m, v operand.Op)        { either(a.g, a.g.VBROADCASTSS, a.g.VBROADCASTSD)(m, v) }
func (a avx) add(y, x, z operand.Op)           { either(a.g, a.g.VADDPS, a.g.VADDPD)(y, x, z) }
func (a avx) sub(y, x, z operand.Op)           { either(a.g, a.g.VSUBPS, a.g.VSUBPD)(y, x, z) }
func (a avx) mul(y, x, z operand.Op)           { either(a.g, a.g.VMULPS, a.g.VMULPD)(y, x, z) }
func (a avx) div(y, x, z operand.Op)           { either(a.g, a.g.VDIVPS, a.g.VDIVPD)(y, x, z) }
func (a avx) max(y, x, z operand.Op)           { either(a.g, a.g.VMAXPS, a.g.VMAXPD)(y, x, z) }
func (a avx) min(y, x, z operand.Op)           { either(a.g, a.g.VMINPS, a.g.VMINPD)(y, x, z) }
func (a avx) sqrt(x, z operand.Op)             { either(a.g, a.g.VSQRTPS, a.g.VSQRTPD)(x, z) }
func (a avx) fma(y, x, acc operand.Op)         { either(a.g, a.g.VFMADD231PS, a.g.VFMADD231PD)(y, x, acc) }
func (a avx) fnma(y, x, acc operand.Op)        { either(a.g, a.g.VFNMADD231PS, a.g.VFNMADD231PD)(y, x, acc) }
func (g *generator) scalef(y, x, z operand.Op) { either(g, g.VSCALEFPS, g.VSCALEFPD)(y, x, z) }
func (a avx) blend(m, y, x, z operand.Op)      { either(a.g, a.g.VBLENDVPS, a.g.VBLENDVPD)(m, y, x, z) }

// scalefWhere is scalef in the lanes of a mask register; the others become 0.
func (g *generator) scalefWhere(k reg.OpmaskPhysical, y, x, z operand.Op) {
	either(g, g.VSCALEFPS_Z, g.VSCALEFPD_Z)(y, x, k, z)
}

// moveWhere moves the lanes of a mask register.
func (g *generator) moveWhere(k reg.OpmaskPhysical, from, to operand.Op) {
	either(g, g.VMOVUPS, g.VMOVUPD)(from, k, to)
}

// bySet returns, of two instructions, the one for the instruction set: AVX-512 without DQ, or AVX2.
func bySet[T any](g *generator, masked, other T) T {
	if g.masked {
		return masked
	}
	return other
}

func (a avx) zero(x reg.VecPhysical) { bySet(a.g, a.g.VPXORD, a.g.VXORPS)(x, x, x) }
func (a avx) and(y, x, z operand.Op) { bySet(a.g, a.g.VPANDQ, a.g.VANDPS)(y, x, z) }
func (a avx) or(y, x, z operand.Op)  { bySet(a.g, a.g.VPORQ, a.g.VORPS)(y, x, z) }

// bare sets z to |x|: the sign is held.
func (a avx) bare(sign, x, z operand.Op) { bySet(a.g, a.g.VPANDNQ, a.g.VANDNPS)(x, sign, z) }

// round rounds to the nearest integer.
func (a avx) round(x, z operand.Op) {
	const nearest = operand.U8(8)
	if a.g.masked {
		either(a.g, a.g.VRNDSCALEPS, a.g.VRNDSCALEPD)(nearest, x, z)
	} else {
		either(a.g, a.g.VROUNDPS, a.g.VROUNDPD)(nearest, x, z)
	}
}

// predicate is the relation of a comparison: false for NaN, unless named otherwise.
type predicate operand.U8

const (
	equal         = predicate(0x00)
	unordered     = predicate(0x03) // either is NaN
	lessThan      = predicate(0x11)
	lessOrEqualTo = predicate(0x12)
	notLessOrNaN  = predicate(0x15)
)

// compare sets m to all ones where "x predicate y".
func (a avx) compare(p predicate, y, x, m operand.Op) {
	either(a.g, a.g.VCMPPS, a.g.VCMPPD)(operand.U8(p), y, x, m)
}

// across combines all lanes of x and leaves the result in each lane; t is free. It combines the halves of x, then the
// halves of the result, and so on.
func (a avx) across(op func(y, x, z operand.Op), x, t reg.VecPhysical) {
	g := a.g
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
