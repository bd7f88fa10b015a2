package main

import (
	"strconv"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// panel is the state of the function that multiplies a panel of columns.
type panel struct {
	*generator
	m, a, aRow, bRow, c, cRow reg.GPVirtual
	taller                    reg.GPVirtual // number of tiles with one row more than the others

	multiplyAdd func(y, x, acc operand.Op)
	inMemory    bool // whether there is a multiplyAdd of an element in memory
}

// tile writes C ← α·A·B + β·C for one panel of at most two vectors of columns and any number of
// rows, tile by tile. An accumulator takes its products one after the other in the order of k, whatever the
// shape of the tile around it.
func (g *generator) tile() { g.tileOf(g.fma, g.masked) }

// tileOf writes a tile whose products are added by the given instruction.
func (g *generator) tileOf(multiplyAdd func(y, x, acc operand.Op), inMemory bool) {
	t := &panel{generator: g, multiplyAdd: multiplyAdd, inMemory: inMemory, m: g.GP64(), a: g.GP64(),
		aRow: g.GP64(), bRow: g.GP64(), c: g.GP64(), cRow: g.GP64(), taller: g.GP64()}
	g.loadInto(t.m, "m")
	g.loadInto(t.a, "a")
	g.loadInto(t.c, "c")
	g.loadInto(t.aRow, "aRow")
	g.loadInto(t.bRow, "bRow")
	g.loadInto(t.cRow, "cRow")
	if g.masked {
		g.makeMasks([2]*mask{columnMask(0), columnMask(1)})
	}
	t.countTaller()
	n := g.GP64()
	g.Load(g.Param("n"), n)
	g.CMPQ(n, operand.U32(g.lanes()))
	narrow := g.label("narrow")
	g.JLE(operand.LabelRef(narrow))
	t.layouts(2)
	g.end()
	g.Label(narrow)
	t.layouts(1)
}

// layouts writes the tiles for both layouts of A: rows, from which it returns, and columns, of which a single row is
// one too.
func (t *panel) layouts(vectors int) {
	columns, aCol := t.label("columns"), t.GP64()
	t.loadInto(aCol, "aCol")
	t.CMPQ(aCol, operand.U32(t.size))
	t.JNE(operand.LabelRef(columns))
	t.tiles(vectors, t.rowsOfA)
	t.end()
	t.Label(columns)
	t.tiles(vectors, t.columnsOfA)
}

// columnMask returns where the mask of vector v of the columns is kept, for instruction sets with mask registers.
func columnMask(v int) *mask { return &mask{k: []reg.OpmaskPhysical{reg.K1, reg.K2}[v]} }

// countTaller counts the tiles that take one row more so that no row is left, if there are enough tiles and the rows of
// A have one stride: low tiles are slower.
func (t *panel) countTaller() {
	t.XORL(t.taller.As32(), t.taller.As32())
	if !t.grows {
		return
	}
	done, rows := t.label("counted"), t.rows[0]
	panel, even := t.GP64(), t.GP64()
	t.loadInto(panel, "aPanel")
	t.IMUL3Q(operand.U32(rows), t.aRow, even)
	t.CMPQ(panel, even)
	t.JNE(operand.LabelRef(done))
	t.MOVQ(t.m, reg.RAX)
	t.XORL(reg.EDX, reg.EDX)
	divisor := t.GP64()
	t.MOVQ(operand.U32(rows), divisor)
	t.DIVQ(divisor)
	t.CMPQ(reg.RDX, reg.RAX)
	t.JGT(operand.LabelRef(done))
	t.MOVQ(reg.RDX, t.taller)
	t.Label(done)
}

// tiles goes down the rows with the tallest tiles and ends with one tile of each smaller height that is needed.
func (t *panel) tiles(vectors int, multiply multiplier) {
	if t.grows {
		begin, end := t.label("taller"), t.label("less")
		t.Label(begin)
		t.DECQ(t.taller)
		t.JLT(operand.LabelRef(end))
		t.oneTile(t.rows[0]+1, vectors, multiply, "")
		t.JMP(operand.LabelRef(begin))
		t.Label(end)
	}
	t.heights(t.m, func(rows int, away string) { t.oneTile(rows, vectors, multiply, away) })
}

// heights writes a tile for each height: the tallest for as long as m rows are enough, the others once. What is away is
// the parameter that says how far the next rows of A are, if they do not just follow.
func (g *generator) heights(m reg.GPVirtual, tile func(rows int, away string)) {
	g.asLongAs(m, g.rows[0], func() { tile(g.rows[0], "aPanel") })
	for _, rows := range g.rows[1:] {
		g.ifLeft(m, rows, func(string) { tile(rows, "") })
	}
}

// ifLeft writes body under the condition that at least a number of the m rows are left; body gets the label of its
// beginning.
func (g *generator) ifLeft(m reg.GPVirtual, rows int, body func(begin string)) {
	begin, end := g.label("rows"+strconv.Itoa(rows)), g.label("less")
	g.Label(begin)
	g.check(m, operand.U32(rows))
	g.jumpIf(below, end)
	body(begin)
	g.Label(end)
}

// asLongAs repeats body while a number of rows are left.
func (g *generator) asLongAs(m reg.GPVirtual, rows int, body func()) {
	g.ifLeft(m, rows, func(begin string) {
		body()
		g.jump(begin)
	})
}

// oneTile computes a tile and goes on to the next, whose rows of A are the given parameter away, or follow.
func (t *panel) oneTile(rows, vectors int, multiply multiplier, away string) {
	t.prefetch(rows, vectors)
	for i := range rows * vectors {
		t.zero(t.vectors[i])
	}
	multiply(rows, vectors)
	t.update(rows, vectors)
	t.SUBQ(operand.U32(rows), t.m)
	step := t.GP64()
	if away != "" {
		t.loadInto(step, away)
	} else {
		t.IMUL3Q(operand.U32(rows), t.aRow, step)
	}
	t.ADDQ(step, t.a)
	t.IMUL3Q(operand.U32(rows), t.cRow, step)
	t.ADDQ(step, t.c)
}

// rowPointers returns the addresses of rows that begin at base, using one more register for each four rows.
func (t *panel) rowPointers(rows int, base, row reg.GPVirtual) ([]operand.Mem, []reg.GPVirtual) {
	var at []operand.Mem
	var bases []reg.GPVirtual
	row3 := t.GP64()
	t.LEAQ(operand.Mem{Base: row, Index: row, Scale: 2}, row3)
	for r := 0; r < rows; r += 4 {
		p := t.GP64()
		if r == 0 {
			t.MOVQ(base, p)
		} else {
			t.LEAQ(operand.Mem{Base: bases[len(bases)-1], Index: row, Scale: 4}, p)
		}
		bases = append(bases, p)
		at = append(at, fourRows(p, row, row3)...)
	}
	return at[:rows], bases
}

// prefetch asks for the lines of C that the tile will write after its last step over k.
func (t *panel) prefetch(rows, vectors int) {
	at, _ := t.rowPointers(rows, t.c, t.cRow)
	for _, m := range at {
		t.PREFETCHT0(m)
		if vectors*t.width > 64 {
			m.Disp += 64
			t.PREFETCHT0(m)
		}
	}
}

// update writes α·accumulator + β·C, without reading C when β = 0.
func (t *panel) update(rows, vectors int) {
	at, _ := t.rowPointers(rows, t.c, t.cRow)
	free := t.vectors[2*t.tallest():]
	alpha, beta, old := free[0], free[1], free[2]
	t.broadcast(inMemory(t.Param("alpha")), alpha)
	t.broadcast(inMemory(t.Param("beta")), beta)
	for i := range rows * vectors {
		t.mul(alpha, t.vectors[i], t.vectors[i])
	}
	fresh, done := t.label("fresh"), t.label("done")
	bits, inParam := t.GP64(), inMemory(t.Param("beta"))
	if t.single() {
		t.MOVL(inParam, bits.As32())
		t.ADDL(bits.As32(), bits.As32()) // drops the sign: −0 is 0
	} else {
		t.MOVQ(inParam, bits)
		t.ADDQ(bits, bits)
	}
	t.JEQ(operand.LabelRef(fresh))
	t.store(rows, vectors, at, func(acc reg.VecPhysical, m operand.Mem, k *mask) {
		t.read(m, k, old)
		t.fma(beta, old, acc)
	})
	t.JMP(operand.LabelRef(done))
	t.Label(fresh)
	t.store(rows, vectors, at, func(reg.VecPhysical, operand.Mem, *mask) {})
	t.Label(done)
}

// store passes every accumulator, with its place in C, through change and writes it there, leaving columns beyond n
// alone.
func (t *panel) store(rows, vectors int, at []operand.Mem, change func(reg.VecPhysical, operand.Mem, *mask)) {
	column := func(v int, k *mask) {
		for r := range rows {
			acc, m := t.vectors[r*vectors+v], at[r]
			m.Disp += v * t.width
			change(acc, m, k)
			t.write(acc, k, m)
		}
	}
	if t.masked {
		for v := range vectors {
			column(v, columnMask(v))
		}
		return
	}
	// Masked stores are slow on some processors without mask registers, so whole vectors are stored without masks.
	n, edge, done := t.GP64(), t.label("edge"), t.label("stored")
	for v := range vectors - 1 {
		column(v, nil)
	}
	last := vectors - 1
	t.Load(t.Param("n"), n)
	t.SUBQ(operand.U32(last*t.lanes()), n)
	t.CMPQ(n, operand.U32(t.lanes()))
	t.JNE(operand.LabelRef(edge))
	column(last, nil)
	t.JMP(operand.LabelRef(done))
	t.Label(edge)
	k := &mask{v: t.vectors[2*t.tallest()+3]}
	t.makeMask(n, k)
	column(last, k)
	t.Label(done)
}
