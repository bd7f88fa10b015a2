package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lines writes the code for each vector of n columns, one row after another; at counts the bytes of the columns. begin
// and end come before and after the columns of a row.
func (g *generator) lines(rows, at reg.GPVirtual, begin, step, end func()) {
	line, column, left := g.label("row"), g.label("column"), g.GP64()
	g.Label(line)
	begin()
	g.parameter("n", left)
	g.Label(column)
	step()
	g.increase(operand.U32(g.width), at)
	g.decrease(operand.U32(g.lanes()), left)
	g.jumpIf(above, column)
	end()
	g.countDown(rows)
	g.jumpIf(other, line)
}

func (g *generator) clearRows() {
	p := g.load("rows", "x", "ld", "columns", "lo", "hi")
	v := g.vectors
	lo, hi, column, zero := v[0], v[1], v[2], v[3]
	g.zero(zero)
	at := g.GP64()
	begin := func() {
		g.broadcast(operand.Mem{Base: p["lo"]}, lo)
		g.broadcast(operand.Mem{Base: p["hi"]}, hi)
		g.clear(at)
	}
	step := func() {
		g.move(operand.Mem{Base: p["columns"], Index: at, Scale: 1}, column)
		g.hide(zero, column, lo, hi, v[4], v[5], operand.Mem{Base: p["x"], Index: at, Scale: 1})
	}
	g.lines(p["rows"], at, begin, step, func() {
		g.increase(p["ld"], p["x"])
		g.increase(operand.U32(g.size), p["lo"])
		g.increase(operand.U32(g.size), p["hi"])
	})
}

func (g *generator) gradientRows() {
	p := g.load("rows", "x", "dx", "ld", "shift", "factor", "delta", "low")
	v := g.vectors
	shift, delta, x, dx, factor, low := v[0], v[1], v[2], v[3], v[8], v[9]
	g.openTable()
	g.holdExp(v[6], v[7])
	at := g.GP64()
	begin := func() {
		g.broadcast(operand.Mem{Base: p["shift"]}, shift)
		g.broadcast(operand.Mem{Base: p["factor"]}, factor)
		g.broadcast(operand.Mem{Base: p["delta"]}, delta)
		g.broadcast(operand.Mem{Base: p["low"]}, low)
		g.clear(at)
	}
	step := func() {
		weights := operand.Mem{Base: p["x"], Index: at, Scale: 1}
		gradients := operand.Mem{Base: p["dx"], Index: at, Scale: 1}
		g.move(weights, x)
		g.sub(shift, x, x)
		g.scoreExp(x, v[3], v[4], v[5])
		g.mul(factor, x, x)
		g.move(x, weights)
		g.move(gradients, dx)
		g.sub(delta, dx, dx)
		g.sub(low, dx, dx)
		g.mul(dx, x, dx)
		g.move(dx, gradients)
	}
	g.lines(p["rows"], at, begin, step, func() {
		g.increase(p["ld"], p["x"])
		g.increase(p["ld"], p["dx"])
		g.increase(operand.U32(g.size), p["shift"])
		g.increase(operand.U32(g.size), p["factor"])
		g.increase(operand.U32(g.size), p["delta"])
		g.increase(operand.U32(g.size), p["low"])
	})
}

// dropRows makes the mask of SplitMix64 eight numbers at a time.
func (g *generator) dropRows() {
	p := g.load("rows", "x", "ld", "columnStep", "rowStep")
	v := g.vectors
	start, at, z, shifted, below, scale, m1, m2 := v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]
	stepRow, stepColumns, x, y := v[8], v[9], v[10], v[11]
	t := g.GP64()
	g.LEAQ(g.words("columns", []uint64{0, 1, 2, 3, 4, 5, 6, 7}), t)
	g.VPBROADCASTQ(p["columnStep"], stepColumns)
	g.VPMULLQ(operand.Mem{Base: t}, stepColumns, stepColumns)
	g.VPBROADCASTQ(inMemory(g.Param("start")), start)
	g.VPADDQ(stepColumns, start, start) // of the first eight columns
	g.VPBROADCASTQ(p["rowStep"], stepRow)
	g.SHLQ(operand.U8(3), p["columnStep"])
	g.VPBROADCASTQ(p["columnStep"], stepColumns)
	g.VPBROADCASTQ(inMemory(g.Param("below")), below)
	g.broadcast(inMemory(g.Param("scale")), scale)
	g.MOVQ(operand.U64(0xbf58476d1ce4e5b9), t)
	g.VPBROADCASTQ(t, m1)
	g.MOVQ(operand.U64(0x94d049bb133111eb), t)
	g.VPBROADCASTQ(t, m2)
	keep := func(k reg.OpmaskPhysical) {
		g.VPSRLQ(operand.U8(30), at, shifted)
		g.VPXORQ(at, shifted, z)
		g.VPMULLQ(m1, z, z)
		g.VPSRLQ(operand.U8(27), z, shifted)
		g.VPXORQ(z, shifted, z)
		g.VPMULLQ(m2, z, z)
		g.VPSRLQ(operand.U8(31), z, shifted)
		g.VPXORQ(z, shifted, z)
		g.VPCMPUQ(operand.U8(5), below, z, k)
		g.VPADDQ(stepColumns, at, at)
	}
	place := g.GP64()
	begin := func() {
		g.VMOVDQA64(start, at)
		g.MOVQ(p["x"], place)
	}
	step := func() {
		keep(reg.K1)
		if g.single() {
			keep(reg.K2)
			g.KUNPCKBW(reg.K1, reg.K2, reg.K1)
		}
		m := operand.Mem{Base: place}
		g.move(m, x)
		g.sub(x, x, y)
		g.mul(scale, x, x)
		g.moveWhere(reg.K1, x, y)
		g.move(y, m)
	}
	g.lines(p["rows"], place, begin, step, func() {
		g.VPADDQ(stepRow, start, start)
		g.ADDQ(p["ld"], p["x"])
	})
}

// capRows computes tanh from e^y − 1, which loses no digits near 0.
//
//	tanh|u| = −E/(E + 2)  with E = e^(−2|u|) − 1 = 2ⁿ·(e^r − 1) + (2ⁿ − 1)
func (g *generator) capRows() {
	p := g.load("rows", "x", "ld", "slope")
	v := g.vectors
	y, n, e, u, cap, sign, minusTwo, power := v[0], v[1], v[2], v[3], v[8], v[9], v[10], v[11]
	g.openTable()
	g.holdExp(v[6], v[7])
	g.broadcast(inMemory(g.Param("c")), cap)
	g.fill(sign, math.Copysign(0, -1))
	g.fill(minusTwo, -2)
	at := g.GP64()
	step := func() {
		m := operand.Mem{Base: p["x"], Index: at, Scale: 1}
		g.move(m, u)
		g.div(cap, u, u)
		g.bare(sign, u, y)
		g.mul(minusTwo, y, y)
		g.reduceInside(y, n, e)
		g.power(n, n)
		g.mul(y, e, e)
		g.chain([]operand.Op{y}, y, e) // e^r − 1
		g.move(n, power)
		g.fma(n, e, power) // e^(−2|u|)
		g.sub(g.constant("one"), n, y)
		g.chain([]operand.Op{y}, n, e) // E
		g.sub(minusTwo, e, y)
		g.div(y, e, e) // −tanh|u|, or +0
		g.bare(sign, e, e)
		// If it is near 1, 1 − e^(−2|u|)·(1 + tanh|u|) loses fewer digits: their difference times tanh² is added.
		g.add(g.constant("one"), e, y)
		g.zero(n)
		g.add(g.constant("one"), n, n)
		g.fnma(power, y, n)
		g.sub(e, n, n)
		g.mul(e, e, y)
		g.fma(y, n, e)
		g.and(sign, u, u)
		g.or(u, e, u)
		g.mul(cap, u, u)
		g.move(u, m)
		g.unless(p["slope"], func() {
			g.add(g.constant("one"), e, e)
			g.mul(e, e, e)
			g.mul(power, e, e) // e^(−2|u|)·(1 + tanh|u|)², which does not cancel as 1 − tanh² does
			g.move(e, operand.Mem{Base: p["slope"], Index: at, Scale: 1})
		})
	}
	g.lines(p["rows"], at, func() { g.clear(at) }, step, func() {
		g.increase(p["ld"], p["x"])
		g.unless(p["slope"], func() { g.increase(p["ld"], p["slope"]) })
	})
}
