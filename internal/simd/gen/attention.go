package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// columns writes the code for n columns of x, one vector of columns after another; row is called for each row. begin
// and end come before and after the rows: they read and write the lines, which have one number for each column.
func (g *generator) columns(p map[string]reg.GPVirtual, lines []string,
	begin func(), row func(operand.Mem), end func()) {
	column, line := g.label("column"), g.label("row")
	at, left := g.GP64(), g.GP64()
	g.Label(column)
	begin()
	g.set(p["x"], at)
	g.set(p["rows"], left)
	g.Label(line)
	row(operand.Mem{Base: at})
	g.increase(p["ld"], at)
	g.countDown(left)
	g.jumpIf(other, line)
	end()
	for _, name := range append(lines, "x") {
		g.increase(operand.U32(g.width), p[name])
	}
	g.decrease(operand.U32(g.lanes()), p["n"])
	g.jumpIf(above, column)
}

func (g *generator) maxColumns() {
	p := g.load("rows", "n", "x", "ld", "top")
	top := g.vectors[0]
	g.columns(p, []string{"top"},
		func() { g.move(operand.Mem{Base: p["x"]}, top) },
		func(m operand.Mem) { g.max(m, top, top) },
		func() { g.move(top, operand.Mem{Base: p["top"]}) })
}

func (g *generator) expColumns() { g.addExp() }

// momentColumns is expColumns that also adds exp(x − shift)·(x − shift). There x − shift is limited to the range in
// which its exponential is not 0, so that −∞ adds 0.
func (g *generator) momentColumns() { g.addExp("moment") }

// addExp writes exp(x − shift). It adds it to the line of sums, and to the line of moments if there is one.
func (g *generator) addExp(moments ...string) {
	sums := append([]string{"sum"}, moments...)
	p := g.load(append([]string{"rows", "n", "x", "ld", "shift"}, sums...)...)
	v := g.vectors
	shift, x, u := v[0], v[2], v[9]
	to := []reg.VecPhysical{v[1], v[8]}
	g.openTable()
	g.holdExp(v[6], v[7])
	g.columns(p, append([]string{"shift"}, sums...),
		func() {
			g.move(operand.Mem{Base: p["shift"]}, shift)
			for i, name := range sums {
				g.move(operand.Mem{Base: p[name]}, to[i])
			}
		},
		func(m operand.Mem) {
			g.move(m, x)
			g.sub(shift, x, x)
			if len(moments) > 0 {
				g.max(x, g.constant("least"), u)
			}
			g.scoreExp(x, v[3], v[4], v[5])
			g.move(x, m)
			g.add(x, to[0], to[0])
			if len(moments) > 0 {
				g.fma(x, u, to[1])
			}
		},
		func() {
			for i, name := range sums {
				g.move(to[i], operand.Mem{Base: p[name]})
			}
		})
}

func (g *generator) hideColumns() {
	p := g.load("rows", "n", "x", "ld", "lo", "hi")
	v := g.vectors
	lo, hi, one, row, lowest := v[0], v[1], v[2], v[3], v[4]
	g.fill(one, 1)
	g.fill(lowest, math.Inf(-1))
	g.columns(p, []string{"lo", "hi"},
		func() {
			g.move(operand.Mem{Base: p["lo"]}, lo)
			g.move(operand.Mem{Base: p["hi"]}, hi)
			g.zero(row)
		},
		func(m operand.Mem) {
			g.hide(lowest, row, lo, hi, v[5], v[6], m)
			g.add(one, row, row)
		},
		func() {})
}

// attentionConstants returns the constants of exponentials of scores.
func (g *generator) attentionConstants() []constant {
	least, most := either(g, -87.33654, -708.3964), either(g, 88.0, 709.0)
	if g.masked { // results below the smallest normal number are rounded, possibly to 0
		least = either(g, -110.0, -760.0)
	}
	return append(g.expConstants(least, most), g.exponentBias())
}

// scoreExp replaces x by e^x for x up to 88 or 709, with three more registers. NaN stays NaN and −∞ becomes 0.
//
//	x = n·ln 2 + r:  e^x = 2ⁿ·e^r
func (g *generator) scoreExp(x, n, e, small reg.VecPhysical) {
	if g.masked {
		g.compare(notLessOrNaN, g.constant("least"), x, reg.K3)
	} else {
		g.compare(lessThan, g.constant("least"), x, small)
	}
	g.reduceInside(x, n, e)
	g.chain([]operand.Op{g.constant("one"), g.constant("one")}, x, e)
	if g.masked {
		g.scalefWhere(reg.K3, n, e, x)
		return
	}
	g.power(n, n)
	g.mul(n, e, x)
	g.clearWhere(small, x)
}

// reduceInside is reduce for x limited to the bounds.
func (g *generator) reduceInside(x, n, e reg.VecPhysical) {
	// If an operand is NaN, these instructions return the operand that is first here.
	g.max(x, g.constant("least"), x)
	if !g.masked {
		g.min(x, g.constant("most"), x)
	}
	g.reduce(x, n, e)
}
