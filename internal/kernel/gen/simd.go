package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// simd is an instruction set: how wide its vectors are and which tiles fit into its registers.
type simd struct {
	name, file string
	width      int   // bytes of a vector
	rows       []int // heights of tiles, largest first, ending in 1
	vectors    []reg.VecPhysical
	masked     bool // has mask registers
}

// avx512 keeps 12×2 accumulators in its 32 registers.
func avx512() *simd {
	v := []reg.VecPhysical{
		reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
		reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
		reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
	}
	return &simd{name: "AVX512", file: "avx512", width: 64, rows: []int{12, 8, 4, 2, 1}, vectors: v, masked: true}
}

// avx2 keeps 6×2 accumulators in its 16 registers.
func avx2() *simd {
	v := []reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
	}
	return &simd{name: "AVX2", file: "avx2", width: 32, rows: []int{6, 4, 2, 1}, vectors: v}
}

// element is the type of a number, and the names of the instructions for it.
type element struct {
	letter, typ string
	word        string // function that gives the address of a slice
	size        int
	shift       operand.U8 // log2 of size
}

func elements() []element {
	return []element{
		{letter: "s", typ: "float32", word: "single", size: 4, shift: 2},
		{letter: "d", typ: "float64", word: "double", size: 8, shift: 3},
	}
}

// generator writes the functions of one instruction set for one type of element.
type generator struct {
	*build.Context
	*simd
	element
	kernel   *kernel // under way
	labels   *int
	hasTable *bool
}

// lanes returns how many elements a vector holds.
func (g *generator) lanes() int { return g.width / g.size }

// label makes a label that is new in its function.
func (g *generator) label(name string) string {
	*g.labels++
	return name + "_" + itoa(*g.labels)
}

func (g *generator) single() bool { return g.size == 4 }

func (g *generator) fma(x, y, acc operand.Op) {
	if g.single() {
		g.VFMADD231PS(x, y, acc)
	} else {
		g.VFMADD231PD(x, y, acc)
	}
}

func (g *generator) mul(x, y, z operand.Op) {
	if g.single() {
		g.VMULPS(x, y, z)
	} else {
		g.VMULPD(x, y, z)
	}
}

func (g *generator) add(x, y, z operand.Op) {
	if g.single() {
		g.VADDPS(x, y, z)
	} else {
		g.VADDPD(x, y, z)
	}
}

func (g *generator) broadcast(m, v operand.Op) {
	if g.single() {
		g.VBROADCASTSS(m, v)
	} else {
		g.VBROADCASTSD(m, v)
	}
}

func (g *generator) move(from, to operand.Op) {
	if g.single() {
		g.VMOVUPS(from, to)
	} else {
		g.VMOVUPD(from, to)
	}
}

func (g *generator) zero(v reg.VecPhysical) {
	if g.masked {
		g.VPXORD(v, v, v)
	} else {
		g.VXORPS(v, v, v)
	}
}

// mask selects the leading lanes of a vector: a mask register, or a vector whose lanes are all ones or zero.
type mask struct {
	k reg.OpmaskPhysical
	v reg.VecPhysical
}

// loadMasked reads the lanes of the mask and zeroes the others.
func (g *generator) loadMasked(m operand.Mem, k mask, v reg.VecPhysical) {
	switch {
	case g.masked && g.single():
		g.VMOVUPS_Z(m, k.k, v)
	case g.masked:
		g.VMOVUPD_Z(m, k.k, v)
	case g.single():
		g.VMASKMOVPS(m, k.v, v)
	default:
		g.VMASKMOVPD(m, k.v, v)
	}
}

// storeMasked writes the lanes of the mask and leaves the rest of the memory alone.
func (g *generator) storeMasked(v reg.VecPhysical, k mask, m operand.Mem) {
	switch {
	case g.masked && g.single():
		g.VMOVUPS(v, k.k, m)
	case g.masked:
		g.VMOVUPD(v, k.k, m)
	case g.single():
		g.VMASKMOVPS(v, k.v, m)
	default:
		g.VMASKMOVPD(v, k.v, m)
	}
}

// makeMask builds the mask of the first n lanes, where n ≤ 0 gives none and n ≥ lanes gives all. It uses up n.
func (g *generator) makeMask(n reg.GPVirtual, k mask) {
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
	g.LEAQ(g.maskTable(), table)
	g.SUBQ(n, table)
	g.VMOVDQU(operand.Mem{Base: table, Disp: g.width}, k.v)
}

// maskTable returns a vector of ones followed by a vector of zeros.
func (g *generator) maskTable() operand.Mem {
	const name = "leadingLanes"
	if !*g.hasTable {
		*g.hasTable = true
		g.StaticGlobal(name)
		g.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := range g.width / 8 {
			g.AddDatum(8*i, operand.U64(1<<64-1))
		}
		for i := range g.width / 8 {
			g.AddDatum(g.width+8*i, operand.U64(0))
		}
	}
	return operand.NewDataAddr(operand.NewStaticSymbol(name), 0)
}
