package main

import (
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// weigh writes the sum of rows, each with its weight, onto y. An element of y adds the rows in order,
// however many rows go together: its bits do not depend on how the rows are grouped.
func (g *generator) weigh() { g.weighRows(false) }

// weighStored is weigh of rows of bfloat16, of whole vectors.
func (g *generator) weighStored() { g.weighRows(true) }

func (g *generator) weighRows(stored bool) {
	w := &weighted{generator: g, stored: stored, step: g.width,
		m: g.GP64(), a: g.GP64(), aRow: g.GP64(), aRow3: g.GP64(), x: g.GP64(), whole: g.GP64()}
	g.loadInto(w.m, "m")
	g.loadInto(w.a, "a")
	if stored {
		w.step /= 2
		g.parameter("aRow", w.aRow)
		g.shiftLeft(operand.U8(1), w.aRow)
	} else {
		g.loadInto(w.aRow, "aRow")
	}
	g.address(operand.Mem{Base: w.aRow, Index: w.aRow, Scale: 2}, w.aRow3)
	g.loadInto(w.x, "x")
	n := g.load("n")["n"]
	g.set(n, w.whole)
	if !stored {
		g.keepBits(operand.U8(g.lanes()-1), n)
		g.decrease(n, w.whole)
		w.tail = &mask{k: reg.K1, v: g.vectors[15]}
		g.makeMask(n, w.tail)
	}
	for _, rows := range []int{8, 4, 2, 1} {
		w.asLongAs(w.m, rows, func() { w.rows(rows) })
	}
}

// weighted is the state of the function that adds up rows.
type weighted struct {
	*generator
	stored               bool // rows are of bfloat16
	step                 int  // bytes of a row that fill a vector
	m, a, aRow, aRow3, x reg.GPVirtual
	whole                reg.GPVirtual // the elements of the whole vectors of a row
	tail                 *mask         // of the elements behind them
}

// rows handles a group of rows.
func (w *weighted) rows(rows int) {
	loop, rest, next := w.label("n"), w.label("rest"), w.label("next")
	w.weights(rows)
	p, y, n := []reg.GPVirtual{w.GP64()}, w.GP64(), w.GP64()
	var ahead []reg.GPVirtual
	w.set(w.a, p[0])
	if rows > 4 {
		p = append(p, w.GP64())
		w.address(operand.Mem{Base: w.a, Index: w.aRow, Scale: 4}, p[1])
		ahead = append(ahead, w.GP64(), w.GP64())
		w.address(operand.Mem{Base: w.a, Index: w.aRow, Scale: 8}, ahead[0])
		w.address(operand.Mem{Base: p[1], Index: w.aRow, Scale: 8}, ahead[1])
	}
	w.parameter("y", y)
	w.set(w.whole, n)
	w.test(n)
	w.jumpIf(none, rest)
	w.Label(loop)
	w.add(rows, p, ahead, y, nil)
	for _, q := range slices.Concat(p, ahead) {
		w.increase(operand.U32(w.step), q)
	}
	w.increase(operand.U32(w.width), y)
	w.decrease(operand.U32(w.lanes()), n)
	w.jumpIf(other, loop)
	w.Label(rest)
	if !w.stored {
		w.parameter("n", n)
		w.check(n, w.whole)
		w.jumpIf(none, next)
		w.add(rows, p, nil, y, w.tail)
		w.Label(next)
	}
	w.increase(operand.U32(rows*w.size), w.x)
	step := w.GP64()
	w.times(operand.U32(rows), w.aRow, step)
	w.increase(step, w.a)
	w.decrease(operand.U32(rows), w.m)
}

// weights fills a vector with α·x of each row.
func (w *weighted) weights(rows int) {
	alpha := w.vectors[0]
	w.broadcast(inMemory(w.Param("alpha")), alpha)
	for r := range rows {
		v := w.weight(r)
		w.broadcast(operand.Mem{Base: w.x, Disp: r * w.size}, v)
		w.mul(alpha, v, v)
	}
}

func (w *weighted) weight(r int) reg.VecPhysical { return w.vectors[2+r] }

// add adds a vector of each row to y.
func (w *weighted) add(rows int, p, next []reg.GPVirtual, y reg.GPVirtual, part *mask) {
	sum, a := w.vectors[0], w.vectors[1]
	w.read(operand.Mem{Base: y}, part, sum)
	for r := range rows {
		m := fourRows(p[r/4], w.aRow, w.aRow3)[r%4]
		if part == nil {
			if rows > 4 { // the same of the next rows: processors do not prefetch beyond a page
				q := fourRows(next[r/4], w.aRow, w.aRow3)[r%4]
				w.prefetch(q)
			}
			if !w.stored {
				w.fma(m, w.weight(r), sum)
				continue
			}
			w.readBF16(m, a)
		} else {
			w.read(m, part, a)
		}
		w.fma(a, w.weight(r), sum)
	}
	w.write(sum, part, operand.Mem{Base: y})
}

func (v *vector) scaleRows() {
	z := v.vectors
	v.shiftLeft(v.shift, v.params["ld"])
	r := v.divide("n")
	v.rows(r, func() {
		v.broadcast(v.first("factor"), z[1])
		v.each(r, func(part *mask) {
			v.load(part, "x", z[0])
			v.mul(z[1], z[0], z[0])
			v.store(part, z[0], "y")
		})
		v.increase(v.params["ld"], v.params["y"])
	}, "x", "factor")
}

func (v *vector) addOuter() {
	z := v.vectors
	v.fillParam("alpha", z[3])
	r := v.divide("n")
	r.bytes = v.params["ld"]
	v.shiftLeft(v.shift, r.bytes)
	v.rows(r, func() {
		v.broadcast(v.first("x"), z[2])
		v.mul(z[3], z[2], z[2])
		v.each(r, func(part *mask) {
			v.load(part, "a", z[0])
			v.load(part, "y", z[1])
			v.fma(z[2], z[1], z[0])
			v.store(part, z[0], "a")
		})
	}, "a", "x")
}
