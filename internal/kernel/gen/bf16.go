package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The kernels of bfloat16 are those of AVX-512 with AVX512-BF16, and have no version elsewhere. A pair is two numbers
// of bfloat16 that are neighbours along k, the first in the lower half of 32 bits.
var bf16Kernels = []kernel{
	{
		name:   "pairTile",
		params: gemmKernels[0].params, // of pairs, k of them
		only:   "float32",
		write:  (*generator).pairTile,
	},
	{
		name:   "pairRows",
		params: "n size; x, y [n]F; pairs [n]F; panel stride",
		only:   "float32",
		write:  (*generator).pairRows,
	},
	{
		name:   "pairElements",
		params: "n size; x [n]F; pairs [n]F",
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
// 2A, section 2.7. The prefix F3 is a part of it.
const prefixF3 = 2

// evex writes an instruction of map 0F38 of three whole registers; unused ones are 0.
func (g *generator) evex(name string, opcode, first, second, to int) {
	inverted := func(r, bit int) int { return ^r >> bit & 1 }
	code := [6]int{
		0x62,
		inverted(to, 3)<<7 | inverted(first, 4)<<6 | inverted(first, 3)<<5 | inverted(to, 4)<<4 | 2,
		(^second&15)<<3 | 1<<2 | prefixF3,
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
	g.evex(fmt.Sprintf("VDPBF16PS Z%d, Z%d, Z%d", index(y), index(x), index(acc)), 0x52,
		index(y), index(x), index(acc))
}

// toBF16 rounds the numbers of x to half as many bytes.
func (g *generator) toBF16(x, to reg.VecPhysical) {
	g.evex(fmt.Sprintf("VCVTNEPS2BF16 Z%d, Y%d", index(x), index(to)), 0x72, index(x), 0, index(to))
}

func (g *generator) pairTile() { g.tileOf(g.pairDot, false) }

// pairLoop is fmaLoop of pairs.
func (g *generator) pairLoop() { g.loopOf(g.pairDot) }

// pairRows writes pairs of the elements of two rows, in panels of two vectors.
func (g *generator) pairRows() {
	p := g.load("x", "y", "pairs", "panel")
	masks := [2]*mask{columnMask(0), columnMask(1)}
	n := g.GP64()
	g.loadInto(n, "n")
	loop := g.label("panel")
	g.Label(loop)
	for v, k := range masks {
		left := g.GP64()
		g.MOVQ(n, left)
		g.SUBQ(operand.U32(v*g.lanes()), left)
		g.makeMask(left, k)
	}
	for v, k := range masks {
		x, y := g.vectors[2*v], g.vectors[2*v+1]
		g.read(operand.Mem{Base: p["x"], Disp: v * g.width}, k, x)
		g.read(operand.Mem{Base: p["y"], Disp: v * g.width}, k, y)
		for _, z := range []reg.VecPhysical{x, y} {
			g.toBF16(z, z)
			g.VPMOVZXWD(z.AsY(), z)
		}
		g.VPSLLD(operand.U8(16), y, y)
		g.VPORD(x, y, x)
		g.move(x, operand.Mem{Base: p["pairs"], Disp: v * g.width})
	}
	g.ADDQ(operand.U32(2*g.width), p["x"])
	g.ADDQ(operand.U32(2*g.width), p["y"])
	g.ADDQ(p["panel"], p["pairs"])
	g.SUBQ(operand.U32(2*g.lanes()), n)
	g.JGT(operand.LabelRef(loop))
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
	g.toBF16(x, x)
	g.VPMOVZXWD(x.AsY(), x)
	g.VPSLLD(operand.U8(16), x, x)
	g.write(x, k, operand.Mem{Base: p["y"]})
	g.ADDQ(operand.U32(g.width), p["x"])
	g.ADDQ(operand.U32(g.width), p["y"])
	g.SUBQ(operand.U32(g.lanes()), n)
	g.JGT(operand.LabelRef(loop))
}

// pairElements writes the pairs of a row, whose elements lie together, in vectors of half the width.
func (g *generator) pairElements() {
	p := g.load("x", "pairs")
	n, k := g.GP64(), columnMask(0)
	g.loadInto(n, "n")
	loop := g.label("vector")
	g.Label(loop)
	left := g.GP64()
	g.MOVQ(n, left)
	g.makeMask(left, k)
	x := g.vectors[0]
	g.read(operand.Mem{Base: p["x"]}, k, x)
	g.toBF16(x, x)
	g.VMOVUPS(x.AsY(), operand.Mem{Base: p["pairs"]})
	g.ADDQ(operand.U32(g.width), p["x"])
	g.ADDQ(operand.U32(g.width/2), p["pairs"])
	g.SUBQ(operand.U32(g.lanes()), n)
	g.JGT(operand.LabelRef(loop))
}
