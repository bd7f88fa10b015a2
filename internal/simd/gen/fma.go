package main

import "github.com/mmcloughlin/avo/operand"

// fmaLoop runs as many independent multiply-adds as a tile has: this is the processor's peak.
func (g *generator) fmaLoop() { g.loopOf(g.fma) }

func (g *generator) loopOf(multiplyAdd func(y, x, acc operand.Op)) {
	count := 2 * g.rows[0]
	n := g.load("n")["n"]
	for i := range count + 2 {
		g.zero(g.vectors[i])
	}
	loop := g.label("loop")
	g.Label(loop)
	for i := range count {
		multiplyAdd(g.vectors[count], g.vectors[count+1], g.vectors[i])
	}
	g.countDown(n)
	g.jumpIf(other, loop)
}
