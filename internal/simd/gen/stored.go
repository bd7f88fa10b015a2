package main

import "github.com/mmcloughlin/avo/operand"

// longVector is the number of elements of x from which repeated reading of x, once for each row, evicts too much of the
// cache.
const longVector = 3072

// dotStored writes the products of rows of bfloat16 with one vector. It handles one row after another, so that memory
// is read sequentially, or several rows together if x is long. A vector of a row holds the elements of two of floats:
// the even ones, moved to the upper halves of their lanes, and the odd ones, whose lower halves are cleared. In the end
// the sums get the order that those of dot have.
func (g *generator) dotStored() {
	d := &dotRows{generator: g, m: g.GP64(), a: g.GP64(), aRow: g.GP64(), aRow3: g.GP64(), y: g.GP64()}
	g.loadInto(d.m, "m")
	g.loadInto(d.a, "a")
	g.parameter("aRow", d.aRow)
	g.shiftLeft(operand.U8(1), d.aRow)
	g.loadInto(d.y, "y")
	g.address(operand.Mem{Base: d.aRow, Index: d.aRow, Scale: 2}, d.aRow3)
	g.upperHalves(g.vectors[len(g.vectors)-1])
	short := g.label("short")
	g.check(g.load("k")["k"], operand.U32(longVector))
	g.jumpIf(below, short)
	if d.masked {
		d.asLongAs(d.m, 8, func() { d.storedRows(8) })
	}
	d.asLongAs(d.m, 4, func() { d.storedRows(4) })
	g.Label(short)
	d.asLongAs(d.m, 1, func() { d.storedRows(1) })
}

// storedRows multiplies a group of rows with x.
func (d *dotRows) storedRows(rows int) {
	n := len(d.vectors)
	x, both, even, upper := d.vectors[n-5:n-3], d.vectors[n-3], d.vectors[n-2], d.vectors[n-1]
	p, second, at, k, loop := d.GP64(), d.GP64(), d.GP64(), d.GP64(), d.label("k")
	d.set(d.a, p)
	all := fourRows(p, d.aRow, d.aRow3)
	if rows > 4 {
		d.address(operand.Mem{Base: p, Index: d.aRow, Scale: 4}, second)
		all = append(all, fourRows(second, d.aRow, d.aRow3)...)
	}
	d.parameter("x", at)
	d.parameter("k", k)
	for i := range 2 * rows {
		d.zero(d.vectors[i])
	}
	d.Label(loop)
	d.move(operand.Mem{Base: at}, x[0])
	d.move(operand.Mem{Base: at, Disp: d.width}, x[1])
	for r, m := range all[:rows] {
		d.move(m, both)
		d.toUpperHalves(both, even)
		d.and(both, upper, both)
		d.fma(x[0], even, d.vectors[2*r])
		d.fma(x[1], both, d.vectors[2*r+1])
	}
	d.increase(operand.U32(d.width), p)
	if rows > 4 {
		d.increase(operand.U32(d.width), second)
	}
	d.increase(operand.U32(2*d.width), at)
	d.decrease(operand.U32(2*d.lanes()), k)
	d.jumpIf(above, loop)
	for r := range rows {
		d.interleave(d.vectors[2*r], d.vectors[2*r+1], x[0], x[1])
		d.add(x[1], x[0], d.vectors[2*r])
		d.sumTo(operand.Mem{Base: d.y, Disp: r * d.size}, d.vectors[2*r], d.vectors[2*r+1])
	}
	d.increase(operand.U32(rows*d.size), d.y)
	step := d.GP64()
	d.times(operand.U32(rows), d.aRow, step)
	d.increase(step, d.a)
	d.decrease(operand.U32(rows), d.m)
}

// widenVectors writes the widening of rows of bfloat16.
func (g *generator) widenVectors() {
	p, row, loop := g.load("k", "y", "yRow", "x"), g.label("row"), g.label("vector")
	xRow, x, y, n := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.parameter("xRow", xRow)
	g.shiftLeft(operand.U8(1), xRow)
	g.Label(row)
	g.set(p["x"], x)
	g.set(p["y"], y)
	g.parameter("n", n)
	g.Label(loop)
	g.readBF16(operand.Mem{Base: x}, g.vectors[0])
	g.move(g.vectors[0], operand.Mem{Base: y})
	g.increase(operand.U32(g.width/2), x)
	g.increase(operand.U32(g.width), y)
	g.decrease(operand.U32(g.lanes()), n)
	g.jumpIf(above, loop)
	g.increase(xRow, p["x"])
	g.increase(p["yRow"], p["y"])
	g.countDown(p["k"])
	g.jumpIf(other, row)
}
