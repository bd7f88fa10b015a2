package main

import "github.com/mmcloughlin/avo/operand"

// fmaFunction writes a loop of independent multiply-adds, as many as a tile has: what the processor can do
// at best.
func (g *generator) fmaFunction() {
	count := 2 * g.rows[0]
	g.Function(g.letter + "fmaLoop" + g.name)
	g.Doc(g.letter + "fmaLoop" + g.name + " does " + itoa(count) + "·" + itoa(g.lanes()) + " multiply-adds n ≥ 1 times, with nothing to wait for.")
	g.SignatureExpr("func(n int)")
	n := g.GP64()
	g.Load(g.Param("n"), n)
	for i := range count + 2 {
		g.zero(g.vectors[i])
	}
	loop := g.label("loop")
	g.Label(loop)
	for i := range count {
		g.fma(g.vectors[count], g.vectors[count+1], g.vectors[i])
	}
	g.DECQ(n)
	g.JNE(operand.LabelRef(loop))
	g.VZEROUPPER()
	g.RET()
}
