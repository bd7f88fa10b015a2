package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dot writes the products of the rows of A with one vector. Each row has two accumulators, for even and odd vectors of
// k, for any number of rows in a group: the bits of a row do not depend on its neighbours.
func (g *generator) dot() {
	d := g.beginDot()
	d.aRow3 = g.GP64()
	g.address(operand.Mem{Base: d.aRow, Index: d.aRow, Scale: 2}, d.aRow3)
	for _, rows := range []int{4, 1} {
		d.asLongAs(d.m, rows, func() { d.rows(rows) })
	}
}

// rowDots writes the products of the rows of A with one row each. Their bits are those of dot.
func (g *generator) rowDots() {
	d := g.beginDot()
	d.x, d.xRow = g.GP64(), g.GP64()
	g.loadInto(d.x, "x")
	g.loadInto(d.xRow, "xRow")
	d.asLongAs(d.m, 1, func() { d.rows(1) })
}

// beginDot loads the common parameters of both.
func (g *generator) beginDot() *dotRows {
	d := &dotRows{generator: g, m: g.GP64(), a: g.GP64(), aRow: g.GP64(), y: g.GP64(), tail: g.GP64()}
	g.loadInto(d.m, "m")
	g.loadInto(d.a, "a")
	g.loadInto(d.aRow, "aRow")
	g.loadInto(d.y, "y")
	n := g.load("k")["k"]
	g.keepBits(operand.U32(2*g.lanes()-1), n)
	g.set(n, d.tail)
	for v := range 2 {
		part := g.GP64()
		g.set(n, part)
		g.decrease(operand.U32(v*g.lanes()), part)
		d.tails[v] = d.tailMask(v)
		g.makeMask(part, d.tails[v])
	}
	return d
}

// dotRows is the state of the function that multiplies rows with a vector.
type dotRows struct {
	*generator
	m, a, aRow, aRow3, y, tail reg.GPVirtual
	x, xRow                    reg.GPVirtual // whether every row has its own x
	tails                      [2]*mask      // mask of the last, partial step over k
}

// tailMask returns where the mask of vector v of that step is kept.
func (d *dotRows) tailMask(v int) *mask {
	if d.masked {
		return columnMask(v)
	}
	return &mask{v: d.vectors[14+v]}
}

// rows handles a group of rows.
func (d *dotRows) rows(rows int) {
	loop, rest, sum := d.label("k"), d.label("rest"), d.label("sum")
	p, x, k := d.GP64(), d.GP64(), d.GP64()
	d.set(d.a, p)
	if own := d.x != nil; own {
		d.set(d.x, x)
		d.increase(d.xRow, d.x)
	} else {
		d.parameter("x", x)
	}
	d.parameter("k", k)
	for i := range 2 * rows {
		d.zero(d.vectors[i])
	}
	d.decrease(operand.U32(2*d.lanes()), k)
	d.jumpIf(below, rest)
	d.Label(loop)
	d.step(rows, p, x, [2]*mask{})
	d.increase(operand.U32(2*d.width), p)
	d.increase(operand.U32(2*d.width), x)
	d.decrease(operand.U32(2*d.lanes()), k)
	d.jumpIf(notBelow, loop)
	d.Label(rest)
	d.test(d.tail)
	d.jumpIf(same, sum)
	d.step(rows, p, x, d.tails)
	d.Label(sum)
	for r := range rows {
		d.sum(r)
	}
	d.increase(operand.U32(rows*d.size), d.y)
	step := d.GP64()
	d.times(operand.U32(rows), d.aRow, step)
	d.increase(step, d.a)
	d.decrease(operand.U32(rows), d.m)
}

// step multiplies two vectors of each row.
func (d *dotRows) step(rows int, p, x reg.GPVirtual, masks [2]*mask) {
	at := fourRows(p, d.aRow, d.aRow3)
	for v := range 2 {
		xv := d.vectors[8+v]
		d.read(operand.Mem{Base: x, Disp: v * d.width}, masks[v], xv)
		for r := range rows {
			m, av := at[r], d.vectors[10+r]
			m.Disp = v * d.width
			d.read(m, masks[v], av)
			d.fma(xv, av, d.vectors[2*r+v])
		}
	}
}

// sum adds up the lanes of row r and writes its element of y.
func (d *dotRows) sum(r int) {
	acc := d.vectors[2*r]
	d.add(d.vectors[2*r+1], acc, acc)
	d.sumTo(operand.Mem{Base: d.y, Disp: r * d.size}, acc, d.vectors[8])
}
