package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The kernels of bfloat16 are those for AVX-512 with AVX512-BF16, and exist on no other processor. A pair is two
// numbers of bfloat16 that are neighbours along k, the first in the lower half of 32 bits.
var bf16Kernels = []kernel{
	{
		name:   "pairTile",
		params: gemmKernels[0].params, // of pairs, k of them
		only:   "float32",
		write:  (*generator).pairTile,
	},
	{
		name:   "pairRows",
		params: "rows, n size; x, y [n]F; xRow stride; pairs [n]F; pairsRow, panel stride",
		only:   "float32",
		write:  (*generator).pairRows,
	},
	{
		name:   "pairElements",
		params: "rows, n size; x [rows,n]F; xRow stride; pairs [rows,n]F; pairsRow stride",
		only:   "float32",
		write:  (*generator).pairElements,
	},
	{
		name:   "roundElements",
		params: "n size; x, y [n]F",
		only:   "float32",
		write:  (*generator).roundElements,
	},
	{
		name:   "pairLoop",
		params: "n size",
		only:   "float32",
		write:  (*generator).pairLoop,
	},
}

func bf16() *simd {
	s := avx512()
	s.name = "BF16"
	return s
}

// Go's assembler lacks the instructions of AVX512-BF16. They are the bytes of an EVEX encoding: Intel's manual, volume
// 2A, section 2.7. The prefix is a part of it.
const (
	prefixF3 = 2
	prefixF2 = 3
)

// evex writes an instruction of map 0F38 of three whole registers.
func (g *generator) evex(name string, prefix, opcode, first, second, to int) {
	inverted := func(r, bit int) int { return ^r >> bit & 1 }
	code := [6]int{
		0x62,
		inverted(to, 3)<<7 | inverted(first, 4)<<6 | inverted(first, 3)<<5 | inverted(to, 4)<<4 | 2,
		(^second&15)<<3 | 1<<2 | prefix,
		2<<5 | inverted(second, 4)<<3, // 512 bits
		opcode,
		3<<6 | to&7<<3 | first&7,
	}
	text := ""
	for _, b := range code[:5] {
		text += fmt.Sprintf("BYTE $0x%02x; ", b)
	}
	text += fmt.Sprintf("BYTE $0x%02x // %s", code[5], name)
	g.Instruction(&ir.Instruction{Opcode: text})
}

func index(x operand.Op) int { return int(x.(reg.VecPhysical).PhysicalIndex()) }

// pairDot adds the products of pairs to acc, that of the second numbers first.
func (g *generator) pairDot(y, x, acc operand.Op) {
	g.evex(fmt.Sprintf("VDPBF16PS Z%d, Z%d, Z%d", index(y), index(x), index(acc)), prefixF3, 0x52,
		index(y), index(x), index(acc))
}

// toBF16 rounds the numbers of two vectors into one, those of low first.
func (g *generator) toBF16(low, high, to operand.Op) {
	g.evex(fmt.Sprintf("VCVTNE2PS2BF16 Z%d, Z%d, Z%d", index(low), index(high), index(to)), prefixF2, 0x72,
		index(low), index(high), index(to))
}

func (g *generator) pairTile() { g.tileOf(g.pairDot, false) }

// pairLoop is fmaLoop for pairs.
func (g *generator) pairLoop() { g.loopOf(g.pairDot) }

// pairRows writes pairs of the elements of two rows, x and y, in panels of two vectors; then of the next two rows.
func (g *generator) pairRows() {
	p := g.load("rows", "x", "y", "xRow", "pairs", "pairsRow", "panel")
	x, y, order := g.vectors[0], g.vectors[1], g.vectors[2]
	g.move(g.words("neighbours", neighbours()), order)
	row, from, fromY, to := g.label("row"), g.GP64(), g.GP64(), g.GP64()
	g.Label(row)
	g.MOVQ(p["x"], from)
	g.MOVQ(p["y"], fromY)
	g.MOVQ(p["pairs"], to)
	g.twoVectors(func(masks [2]*mask) {
		for v, k := range masks {
			g.read(operand.Mem{Base: from, Disp: v * g.width}, k, x)
			g.read(operand.Mem{Base: fromY, Disp: v * g.width}, k, y)
			g.toBF16(x, y, x)
			g.VPERMW(x, order, x)
			g.move(x, operand.Mem{Base: to, Disp: v * g.width})
		}
	}, func() {
		g.ADDQ(operand.U32(2*g.width), from)
		g.ADDQ(operand.U32(2*g.width), fromY)
		g.ADDQ(p["panel"], to)
	})
	g.ADDQ(p["xRow"], p["x"])
	g.ADDQ(p["xRow"], p["y"])
	g.ADDQ(p["pairsRow"], p["pairs"])
	g.DECQ(p["rows"])
	g.JNE(operand.LabelRef(row))
}

// twoVectors loops over n elements, two vectors at a time: it calls step without masks, and on to advance the pointers.
// The rest gets one step with masks.
func (g *generator) twoVectors(step func(masks [2]*mask), on func()) {
	n, loop, rest, done := g.GP64(), g.label("whole"), g.label("rest"), g.label("paired")
	g.loadInto(n, "n")
	g.SUBQ(operand.U32(2*g.lanes()), n)
	g.JLT(operand.LabelRef(rest))
	g.Label(loop)
	step([2]*mask{})
	on()
	g.SUBQ(operand.U32(2*g.lanes()), n)
	g.JGE(operand.LabelRef(loop))
	g.Label(rest)
	g.ADDQ(operand.U32(2*g.lanes()), n)
	g.JEQ(operand.LabelRef(done))
	masks := [2]*mask{columnMask(0), columnMask(1)}
	for v, k := range masks {
		left := g.GP64()
		g.MOVQ(n, left)
		g.SUBQ(operand.U32(v*g.lanes()), left)
		g.makeMask(left, k)
	}
	step(masks)
	g.Label(done)
}

// neighbours is the order of words in which each word of the first half comes before its partner in the second.
func neighbours() []uint64 {
	words := make([]uint64, 8)
	for i := range words {
		for j := range uint64(2) {
			first := uint64(2*i) + j
			words[i] |= (first | (16+first)<<16) << (32 * j)
		}
	}
	return words
}

// pairElements writes the pairs of rows, whose elements are contiguous, in whole vectors.
func (g *generator) pairElements() {
	p := g.load("rows", "x", "xRow", "pairs", "pairsRow")
	z := g.vectors[:2]
	row, from, to := g.label("row"), g.GP64(), g.GP64()
	g.Label(row)
	g.MOVQ(p["x"], from)
	g.MOVQ(p["pairs"], to)
	g.twoVectors(func(masks [2]*mask) {
		for v, k := range masks {
			g.read(operand.Mem{Base: from, Disp: v * g.width}, k, z[v])
		}
		g.toBF16(z[0], z[1], z[0])
		g.move(z[0], operand.Mem{Base: to})
	}, func() {
		g.ADDQ(operand.U32(2*g.width), from)
		g.ADDQ(operand.U32(g.width), to)
	})
	g.ADDQ(p["xRow"], p["x"])
	g.ADDQ(p["pairsRow"], p["pairs"])
	g.DECQ(p["rows"])
	g.JNE(operand.LabelRef(row))
}

// roundElements writes the numbers of x, rounded, to y.
func (g *generator) roundElements() {
	p := g.load("x", "y")
	n, k := g.GP64(), columnMask(0)
	g.loadInto(n, "n")
	loop := g.label("vector")
	g.Label(loop)
	left := g.GP64()
	g.MOVQ(n, left)
	g.makeMask(left, k)
	x := g.vectors[0]
	g.read(operand.Mem{Base: p["x"]}, k, x)
	g.toBF16(x, x, x)
	g.VPMOVZXWD(x.AsY(), x)
	g.VPSLLD(operand.U8(16), x, x)
	g.write(x, k, operand.Mem{Base: p["y"]})
	g.ADDQ(operand.U32(g.width), p["x"])
	g.ADDQ(operand.U32(g.width), p["y"])
	g.SUBQ(operand.U32(g.lanes()), n)
	g.JGT(operand.LabelRef(loop))
}
