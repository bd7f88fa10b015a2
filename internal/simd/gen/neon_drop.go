package main

import (
	"fmt"
)

// dropRowsNEON makes the mask of SplitMix64 in registers of integers: vectors have no product of 64 bits.
func (g *generator) dropRowsNEON() {
	n := neon{g}
	p := g.load("rows", "x", "ld", "start", "columnStep", "rowStep", "below")
	at, z, place, left, m1, m2 := g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64()
	number, one := n.scalar(), either(g, "S", "D")
	n.use(fmt.Sprintf("%s %s, F3", number, inMemory(g.Param("scale")).Asm()))
	n.assign("MOVD $0xbf58476d1ce4e5b9, %[1]s", m1)
	n.assign("MOVD $0x94d049bb133111eb, %[1]s", m2)
	row, column := g.label("row"), g.label("column")
	g.Label(row)
	g.set(p["start"], at)
	g.set(p["x"], place)
	g.parameter("n", left)
	g.Label(column)
	n.assign("EOR %[2]s>>30, %[2]s, %[1]s", z, at)
	n.do("MUL %[2]s, %[1]s, %[1]s", z, m1)
	n.do("EOR %[1]s>>27, %[1]s, %[1]s", z)
	n.do("MUL %[2]s, %[1]s, %[1]s", z, m2)
	n.do("EOR %[1]s>>31, %[1]s, %[1]s", z)
	n.use(number+" (%[1]s), F0", place)
	n.use(fmt.Sprintf("FSUB%s F0, F0, F1", one))
	n.use(fmt.Sprintf("FMUL%s F3, F0, F2", one))
	g.check(z, p["below"])
	n.use(fmt.Sprintf("FCSEL%s HS, F2, F1, F2", one))
	n.do(fmt.Sprintf("%s.P F2, %d(%%[1]s)", number, g.size), place)
	g.increase(p["columnStep"], at)
	g.countDown(left)
	g.jumpIf(other, column)
	g.increase(p["rowStep"], p["start"])
	g.increase(p["ld"], p["x"])
	g.countDown(p["rows"])
	g.jumpIf(other, row)
}
