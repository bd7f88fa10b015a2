package main

import (
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// mask selects the leading lanes of a vector: a mask register, or a vector whose lanes are all ones or zero.
type mask struct {
	k reg.OpmaskPhysical
	v reg.VecPhysical
	n reg.GPVirtual // number of lanes, if the processor has no masks
}

// makeMask builds the mask of the first n lanes, where n ≤ 0 gives none and n ≥ lanes gives all. It uses up n.
func (a avx) makeMask(n reg.GPVirtual, k *mask) {
	g := a.g
	none, all := g.GP64(), g.GP64()
	g.XORL(none.As32(), none.As32())
	g.TESTQ(n, n)
	g.CMOVQLT(none, n)
	g.MOVQ(operand.U32(g.lanes()), all)
	g.CMPQ(n, all)
	g.CMOVQGT(all, n)
	if g.masked {
		// The low n bits.
		bits := g.GP64()
		g.MOVQ(operand.I32(-1), bits)
		g.BZHIQ(n, bits, bits)
		g.KMOVW(bits.As32(), k.k)
		return
	}
	// A vector's worth of memory that begins n lanes before the ones end.
	g.SHLQ(g.shift, n)
	table := g.GP64()
	g.LEAQ(g.leadingLanes(), table)
	g.SUBQ(n, table)
	g.VMOVDQU(operand.Mem{Base: table, Disp: g.width}, k.v)
}

// leadingLanes returns the address of a vector of ones and, behind it, one of zeros.
func (g *generator) leadingLanes() operand.Mem {
	words := g.width / 8
	ones := slices.Repeat([]uint64{1<<64 - 1}, words)
	return g.words("leadingLanes", append(ones, make([]uint64, words)...))
}

// makeMasks builds the masks of two vectors of the parameter n.
func (g *generator) makeMasks(masks [2]*mask) {
	n := g.GP64()
	for v, k := range masks {
		g.Load(g.Param("n"), n)
		g.SUBQ(operand.U32(v*g.lanes()), n)
		g.makeMask(n, k)
	}
}

// read reads a vector; under a mask it does not access other lanes, and sets them to 0.
func (a avx) read(m operand.Mem, k *mask, to reg.VecPhysical) {
	g := a.g
	switch {
	case k == nil:
		g.move(m, to)
	case g.masked:
		either(g, g.VMOVUPS_Z, g.VMOVUPD_Z)(m, k.k, to)
	default:
		either(g, g.VMASKMOVPS, g.VMASKMOVPD)(m, k.v, to)
	}
}

// write writes a vector; under a mask it does not change the memory of other lanes.
func (a avx) write(from reg.VecPhysical, k *mask, m operand.Mem) {
	g := a.g
	switch {
	case k == nil:
		g.move(from, m)
	case g.masked:
		g.moveWhere(k.k, from, m)
	default:
		either(g, g.VMASKMOVPS, g.VMASKMOVPD)(from, k.v, m)
	}
}
