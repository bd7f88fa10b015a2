package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// copyPanel writes the copying of a panel of strided rows.
func (g *generator) copyPanel() {
	k, src, srcRow, dst, dstRow := g.rowCopy()
	masks := [2]*mask{{k: reg.K1, v: g.vectors[4]}, {k: reg.K2, v: g.vectors[5]}}
	g.makeMasks(masks)
	n := g.GP64()
	g.Load(g.Param("n"), n)
	g.CMPQ(n, operand.U32(g.lanes()))
	narrow := g.label("narrow")
	g.JLE(operand.LabelRef(narrow))
	for _, vectors := range []int{2, 1} {
		loop := g.label("k")
		g.Label(loop)
		for v := range vectors {
			g.read(operand.Mem{Base: src, Disp: v * g.width}, masks[v], g.vectors[v])
		}
		for v := range vectors {
			g.move(g.vectors[v], operand.Mem{Base: dst, Disp: v * g.width})
		}
		g.PREFETCHT0(operand.Mem{Base: src, Disp: 256})
		g.ADDQ(srcRow, src)
		g.ADDQ(dstRow, dst)
		g.DECQ(k)
		g.JNE(operand.LabelRef(loop))
		if vectors == 2 {
			g.end()
			g.Label(narrow)
		}
	}
}

// rowCopy loads the parameters that all copying functions share.
func (g *generator) rowCopy() (k, src, srcRow, dst, dstRow reg.GPVirtual) {
	k, src, srcRow, dst, dstRow = g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.Load(g.Param("k"), k)
	g.Load(g.Param("src"), src)
	g.Load(g.Param("srcRow"), srcRow)
	g.Load(g.Param("dst"), dst)
	g.Load(g.Param("dstRow"), dstRow)
	g.SHLQ(g.shift, srcRow)
	g.SHLQ(g.shift, dstRow)
	return
}

// prefetchRows writes the prefetch of every line of some rows.
func (g *generator) prefetchRows() {
	const line = 64
	p := g.load("k", "n", "b", "bRow")
	g.shiftLeft(g.shift, p["n"])
	row, loop, left := g.label("row"), g.label("line"), g.GP64()
	at := g.GP64()
	g.Label(row)
	g.set(p["b"], at)
	g.set(p["n"], left)
	g.Label(loop)
	g.prefetch(operand.Mem{Base: at})
	g.increase(operand.U32(line), at)
	g.decrease(operand.U32(line), left)
	g.jumpIf(above, loop)
	g.increase(p["bRow"], p["b"])
	g.countDown(p["k"])
	g.jumpIf(other, row)
}

// transposePanel writes the transposition of rows, four at a time and a vector of each. The last step
// along k begins a whole vector before the end, and the last four rows begin four before the end: they do
// some elements again.
func (g *generator) transposePanel() {
	_, src, srcRow, dst, dstRow := g.rowCopy()
	srcRow3, dstRow3, n := g.GP64(), g.GP64(), g.GP64()
	g.LEAQ(operand.Mem{Base: srcRow, Index: srcRow, Scale: 2}, srcRow3)
	g.LEAQ(operand.Mem{Base: dstRow, Index: dstRow, Scale: 2}, dstRow3)
	g.Load(g.Param("n"), n)
	group, done := g.label("rows"), g.label("done")
	g.Label(group)
	g.transposeRows(src, srcRow, srcRow3, dst, dstRow, dstRow3)
	g.SUBQ(operand.U32(4), n)
	g.JEQ(operand.LabelRef(done))
	g.LEAQ(operand.Mem{Base: src, Index: srcRow, Scale: 4}, src)
	g.ADDQ(operand.U32(4*g.size), dst)
	g.CMPQ(n, operand.U32(4))
	g.JGE(operand.LabelRef(group))
	back := g.GP64()
	g.SUBQ(operand.U32(4), n)
	g.LEAQ(operand.Mem{Base: dst, Index: n, Scale: uint8(g.size)}, dst)
	g.MOVQ(srcRow, back)
	g.IMULQ(n, back)
	g.ADDQ(back, src)
	g.MOVQ(operand.U32(4), n)
	g.JMP(operand.LabelRef(group))
	g.Label(done)
}

// transposeRows transposes four rows over all of k.
func (g *generator) transposeRows(from, srcRow, srcRow3, to, dstRow, dstRow3 reg.GPVirtual) {
	src, dst, k := g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(from, src)
	g.MOVQ(to, dst)
	g.Load(g.Param("k"), k)
	loop, last, done := g.label("k"), g.label("last"), g.label("turned")
	g.SUBQ(operand.U32(g.lanes()), k)
	g.Label(loop)
	rows := fourRows(src, srcRow, srcRow3)
	for r, m := range rows {
		g.move(m, g.vectors[r])
	}
	next := g.GP64()
	g.LEAQ(operand.Mem{Base: src, Index: srcRow, Scale: 4}, next)
	for _, m := range fourRows(next, srcRow, srcRow3) {
		g.PREFETCHT0(m)
	}
	if g.single() {
		upper := g.GP64()
		g.LEAQ(operand.Mem{Base: dst, Index: dstRow, Scale: 4}, upper)
		g.transposeSingle(fourRows(dst, dstRow, dstRow3), fourRows(upper, dstRow, dstRow3))
	} else {
		g.transposeDouble(fourRows(dst, dstRow, dstRow3))
	}
	g.TESTQ(k, k)
	g.JEQ(operand.LabelRef(done))
	g.CMPQ(k, operand.U32(g.lanes()))
	g.JLT(operand.LabelRef(last))
	g.ADDQ(operand.U32(g.width), src)
	g.LEAQ(operand.Mem{Base: dst, Index: dstRow, Scale: uint8(min(g.lanes(), 8))}, dst)
	g.SUBQ(operand.U32(g.lanes()), k)
	g.JMP(operand.LabelRef(loop))
	g.Label(last)
	step := g.GP64()
	g.LEAQ(operand.Mem{Base: src, Index: k, Scale: uint8(g.size)}, src)
	g.MOVQ(dstRow, step)
	g.IMULQ(k, step)
	g.ADDQ(step, dst)
	g.XORL(k.As32(), k.As32())
	g.JMP(operand.LabelRef(loop))
	g.Label(done)
}

// fourRows returns the addresses of four rows.
func fourRows(base, row, row3 reg.GPVirtual) []operand.Mem {
	return []operand.Mem{
		{Base: base},
		{Base: base, Index: row, Scale: 1},
		{Base: base, Index: row, Scale: 2},
		{Base: base, Index: row3, Scale: 1},
	}
}

// transposeSingle turns four rows of eight into eight of four.
func (g *generator) transposeSingle(lower, upper []operand.Mem) {
	v := g.vectors
	g.VUNPCKLPS(v[1], v[0], v[4]) // a0 b0 a1 b1
	g.VUNPCKHPS(v[1], v[0], v[5]) // a2 b2 a3 b3
	g.VUNPCKLPS(v[3], v[2], v[6])
	g.VUNPCKHPS(v[3], v[2], v[7])
	g.VUNPCKLPD(v[6], v[4], v[8]) // a0 b0 c0 d0
	g.VUNPCKHPD(v[6], v[4], v[9])
	g.VUNPCKLPD(v[7], v[5], v[10])
	g.VUNPCKHPD(v[7], v[5], v[11])
	for i := range 4 {
		g.VMOVUPS(v[8+i].AsX(), lower[i])
		g.VEXTRACTF128(operand.U8(1), v[8+i], upper[i])
	}
}

// transposeDouble turns four rows of four around.
func (g *generator) transposeDouble(at []operand.Mem) {
	v := g.vectors
	g.VUNPCKLPD(v[1], v[0], v[4]) // a0 b0 a2 b2
	g.VUNPCKHPD(v[1], v[0], v[5]) // a1 b1 a3 b3
	g.VUNPCKLPD(v[3], v[2], v[6])
	g.VUNPCKHPD(v[3], v[2], v[7])
	g.VPERM2F128(operand.U8(0x20), v[6], v[4], v[8])
	g.VPERM2F128(operand.U8(0x20), v[7], v[5], v[9])
	g.VPERM2F128(operand.U8(0x31), v[6], v[4], v[10])
	g.VPERM2F128(operand.U8(0x31), v[7], v[5], v[11])
	for i := range 4 {
		g.VMOVUPD(v[8+i], at[i])
	}
}
