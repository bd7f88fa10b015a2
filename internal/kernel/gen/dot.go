package main

import (
	"strconv"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dot writes the products of the rows of A with one vector. Each row has two accumulators, for even
// and odd vectors of k, however many rows go together: a row's bits do not depend on its neighbours.
func (g *generator) dot() {
	d := &dotRows{generator: g, m: g.GP64(), a: g.GP64(), aRow: g.GP64(), aRow3: g.GP64(), y: g.GP64(), tail: g.GP64()}
	g.loadInto(d.m, "m")
	g.loadInto(d.a, "a")
	g.loadInto(d.aRow, "aRow")
	g.LEAQ(operand.Mem{Base: d.aRow, Index: d.aRow, Scale: 2}, d.aRow3)
	g.loadInto(d.y, "y")
	n := g.load("k")["k"]
	g.ANDQ(operand.U32(2*g.lanes()-1), n)
	g.MOVQ(n, d.tail)
	for v := range 2 {
		part := g.GP64()
		g.MOVQ(n, part)
		g.SUBQ(operand.U32(v*g.lanes()), part)
		g.makeMask(part, d.tailMask(v))
	}
	for _, rows := range []int{4, 1} {
		d.rows(rows)
	}
}

// dotRows is the state of the function that multiplies rows with a vector.
type dotRows struct {
	*generator
	m, a, aRow, aRow3, y, tail reg.GPVirtual
}

// tailMask returns where the mask of vector v of the last, partial step over k is kept.
func (d *dotRows) tailMask(v int) *mask {
	if d.masked {
		return columnMask(v)
	}
	return &mask{v: d.vectors[14+v]}
}

// rows handles groups of the given number of rows as long as there are enough.
func (d *dotRows) rows(rows int) {
	begin, end := d.label("rows"+strconv.Itoa(rows)), d.label("less")
	loop, rest, sum := d.label("k"), d.label("rest"), d.label("sum")
	d.Label(begin)
	d.CMPQ(d.m, operand.U32(rows))
	d.JLT(operand.LabelRef(end))
	p, x, k := d.GP64(), d.GP64(), d.GP64()
	d.MOVQ(d.a, p)
	d.Load(d.Param("x"), x)
	d.Load(d.Param("k"), k)
	for i := range 2 * rows {
		d.zero(d.vectors[i])
	}
	d.SUBQ(operand.U32(2*d.lanes()), k)
	d.JLT(operand.LabelRef(rest))
	d.Label(loop)
	d.step(rows, p, x, [2]*mask{})
	d.ADDQ(operand.U32(2*d.width), p)
	d.ADDQ(operand.U32(2*d.width), x)
	d.SUBQ(operand.U32(2*d.lanes()), k)
	d.JGE(operand.LabelRef(loop))
	d.Label(rest)
	d.TESTQ(d.tail, d.tail)
	d.JEQ(operand.LabelRef(sum))
	d.step(rows, p, x, [2]*mask{d.tailMask(0), d.tailMask(1)})
	d.Label(sum)
	for r := range rows {
		d.sum(r)
	}
	d.ADDQ(operand.U32(rows*d.size), d.y)
	step := d.GP64()
	d.IMUL3Q(operand.U32(rows), d.aRow, step)
	d.ADDQ(step, d.a)
	d.SUBQ(operand.U32(rows), d.m)
	d.JMP(operand.LabelRef(begin))
	d.Label(end)
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
	half := d.vectors[8]
	x, y := acc.AsX(), acc.AsY()
	if d.masked {
		d.VEXTRACTF64X4(operand.U8(1), acc, half.AsY())
		d.add(half.AsY(), y, y)
	}
	d.VEXTRACTF128(operand.U8(1), y, half.AsX())
	d.add(half.AsX(), x, x)
	if d.single() {
		d.VHADDPS(x, x, x)
		d.VHADDPS(x, x, x)
		d.VMOVSS(x, operand.Mem{Base: d.y, Disp: r * d.size})
	} else {
		d.VHADDPD(x, x, x)
		d.VMOVSD(x, operand.Mem{Base: d.y, Disp: r * d.size})
	}
}
