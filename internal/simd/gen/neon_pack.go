package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// copyPanelNEON is copyPanel of any width.
func (g *generator) copyPanelNEON() {
	p := g.load("k", "src", "srcRow", "dst", "dstRow")
	whole, rest, n := g.GP64(), g.GP64(), g.GP64()
	g.parameter("n", n)
	g.set(n, rest)
	g.keepBits(operand.U8(g.lanes()-1), rest)
	g.set(n, whole)
	g.decrease(rest, whole)
	g.shiftLeft(g.shift, whole)
	k := &mask{v: g.vectors[1]}
	g.set(rest, n)
	g.makeMask(n, k)
	row, loop, tail, next := g.label("row"), g.label("vector"), g.label("rest"), g.label("next")
	at := g.GP64()
	from, to := operand.Mem{Base: p["src"], Index: at, Scale: 1}, operand.Mem{Base: p["dst"], Index: at, Scale: 1}
	g.Label(row)
	g.clear(at)
	g.check(at, whole)
	g.jumpIf(notBelow, tail)
	g.Label(loop)
	g.move(from, g.vectors[0])
	g.move(g.vectors[0], to)
	g.increase(operand.U32(g.width), at)
	g.check(at, whole)
	g.jumpIf(below, loop)
	g.Label(tail)
	g.test(rest)
	g.jumpIf(none, next)
	g.read(from, k, g.vectors[0])
	g.move(g.vectors[0], to)
	g.Label(next)
	g.increase(p["srcRow"], p["src"])
	g.increase(p["dstRow"], p["dst"])
	g.countDown(p["k"])
	g.jumpIf(other, row)
}

// transposePanelNEON transposes one vector of each of four rows at a time. As in transposePanel, the last step along k
// begins one vector before the end, and the last group of rows begins four rows before the end.
func (g *generator) transposePanelNEON() {
	p := g.load("src", "srcRow", "dst", "dstRow")
	n, back := g.GP64(), g.GP64()
	g.parameter("n", n)
	group, done := g.label("rows"), g.label("done")
	g.Label(group)
	g.transposeRowsNEON(p)
	g.decrease(operand.U32(4), n)
	g.jumpIf(none, done)
	g.address(operand.Mem{Base: p["src"], Index: p["srcRow"], Scale: 4}, p["src"])
	g.increase(operand.U32(4*g.size), p["dst"])
	g.check(n, operand.U32(4))
	g.jumpIf(notBelow, group)
	g.decrease(operand.U32(4), n)
	g.address(operand.Mem{Base: p["dst"], Index: n, Scale: uint8(g.size)}, p["dst"])
	neon{g}.assign("MUL %[2]s, %[3]s, %[1]s", back, p["srcRow"], n)
	g.increase(back, p["src"])
	g.set(operand.U32(4), n)
	g.jump(group)
	g.Label(done)
}

// transposeRowsNEON transposes four rows along all of k.
func (g *generator) transposeRowsNEON(p map[string]reg.GPVirtual) {
	var src [4]reg.GPVirtual
	for r := range src {
		src[r] = g.GP64()
		if r == 0 {
			g.set(p["src"], src[r])
		} else {
			g.address(operand.Mem{Base: src[r-1], Index: p["srcRow"], Scale: 1}, src[r])
		}
	}
	dst, k := g.GP64(), g.GP64()
	g.set(p["dst"], dst)
	g.parameter("k", k)
	loop, last, done := g.label("k"), g.label("last"), g.label("turned")
	g.decrease(operand.U32(g.lanes()), k)
	g.Label(loop)
	for r, s := range src {
		g.move(operand.Mem{Base: s}, g.vectors[r])
	}
	g.turn(dst, p["dstRow"])
	g.test(k)
	g.jumpIf(none, done)
	g.check(k, operand.U32(g.lanes()))
	g.jumpIf(below, last)
	for _, s := range src {
		g.increase(operand.U32(g.width), s)
	}
	g.decrease(operand.U32(g.lanes()), k)
	g.jump(loop)
	// Both go back by what the step did too much: dst has gone a whole vector ahead.
	g.Label(last)
	step := g.GP64()
	for _, s := range src {
		g.address(operand.Mem{Base: s, Index: k, Scale: uint8(g.size)}, s)
	}
	g.decrease(operand.U32(g.lanes()), k)
	neon{g}.assign("MUL %[2]s, %[3]s, %[1]s", step, p["dstRow"], k)
	g.increase(step, dst)
	g.clear(k)
	g.jump(loop)
	g.Label(done)
}

// turn writes the columns of the vectors 0 to 3 as rows, and advances behind them.
func (g *generator) turn(dst, dstRow reg.GPVirtual) {
	n := neon{g}
	out := [][]int{{4, 5}, {6, 7}} // two rows of doubles, each of two vectors
	if g.single() {
		n.known("VZIP1", 1, 0, 8) // a0 b0 a1 b1
		n.known("VZIP2", 1, 0, 9) // a2 b2 a3 b3
		n.known("VZIP1", 3, 2, 10)
		n.known("VZIP2", 3, 2, 11)
		for i := range 2 {
			n.withLanes("VZIP1", "D2", 10+i, 8+i, 4+2*i) // a0 b0 c0 d0
			n.withLanes("VZIP2", "D2", 10+i, 8+i, 5+2*i)
		}
		out = [][]int{{4}, {5}, {6}, {7}}
	} else {
		n.known("VZIP1", 1, 0, 4)
		n.known("VZIP1", 3, 2, 5)
		n.known("VZIP2", 1, 0, 6)
		n.known("VZIP2", 3, 2, 7)
	}
	for _, row := range out {
		for i, v := range row {
			g.move(g.vectors[v], operand.Mem{Base: dst, Disp: i * g.width})
		}
		g.increase(dstRow, dst)
	}
}
