package main

import (
	"strconv"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// panel is the state of the function that multiplies a panel of columns.
type panel struct {
	*generator
	m                    reg.GPVirtual
	a, aRow, aRow3, aCol reg.GPVirtual
	bRow                 reg.GPVirtual
	c, cRow, cRow3       reg.GPVirtual
}

// tile writes C ← α·A·B + β·C for one panel of at most two vectors of columns and any number of
// rows, tile by tile. An accumulator takes its products one after the other in the order of k, whatever the
// shape of the tile around it.
func (g *generator) tile() {
	t := &panel{
		generator: g, m: g.GP64(), a: g.GP64(), aRow: g.GP64(), aRow3: g.GP64(), aCol: g.GP64(),
		bRow: g.GP64(), c: g.GP64(), cRow: g.GP64(), cRow3: g.GP64(),
	}
	g.loadInto(t.m, "m")
	g.loadInto(t.a, "a")
	g.loadInto(t.c, "c")
	g.loadInto(t.aRow, "aRow")
	g.loadInto(t.aCol, "aCol")
	g.loadInto(t.bRow, "bRow")
	g.loadInto(t.cRow, "cRow")
	g.LEAQ(operand.Mem{Base: t.aRow, Index: t.aRow, Scale: 2}, t.aRow3)
	g.LEAQ(operand.Mem{Base: t.cRow, Index: t.cRow, Scale: 2}, t.cRow3)
	if g.masked {
		g.makeMasks([2]*mask{columnMask(0), columnMask(1)})
	}
	n := g.GP64()
	g.Load(g.Param("n"), n)
	g.CMPQ(n, operand.U32(g.lanes()))
	narrow := g.label("narrow")
	g.JLE(operand.LabelRef(narrow))
	t.tiles(2)
	g.end()
	g.Label(narrow)
	t.tiles(1)
}

// columnMask returns where the mask of vector v of the columns is kept, for instruction sets with mask registers.
func columnMask(v int) *mask { return &mask{k: []reg.OpmaskPhysical{reg.K1, reg.K2}[v]} }

// tiles goes down the rows with the tallest tile and ends with one tile of each smaller height that is needed.
func (t *panel) tiles(vectors int) {
	for i, rows := range t.rows {
		begin, end := t.label("rows"+strconv.Itoa(rows)), t.label("less")
		t.Label(begin)
		t.CMPQ(t.m, operand.U32(rows))
		t.JLT(operand.LabelRef(end))
		t.multiply(rows, vectors)
		t.update(rows, vectors)
		t.SUBQ(operand.U32(rows), t.m)
		step := t.GP64()
		if i == 0 {
			t.Load(t.Param("aPanel"), step)
			t.SHLQ(t.shift, step)
			t.ADDQ(step, t.a)
		} else {
			t.IMUL3Q(operand.U32(rows), t.aRow, step)
			t.ADDQ(step, t.a)
		}
		t.IMUL3Q(operand.U32(rows), t.cRow, step)
		t.ADDQ(step, t.c)
		if i == 0 {
			t.JMP(operand.LabelRef(begin))
		}
		t.Label(end)
	}
}

// rowPointers returns the addresses of rows that begin at base, using one more register for each four rows.
func (t *panel) rowPointers(rows int, base, row, row3 reg.GPVirtual) ([]operand.Mem, []reg.GPVirtual) {
	var at []operand.Mem
	var bases []reg.GPVirtual
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

// multiply sums A·B over k in the accumulators.
func (t *panel) multiply(rows, vectors int) {
	t.prefetch(rows, vectors)
	at, bases := t.rowPointers(rows, t.a, t.aRow, t.aRow3)
	b, k := t.GP64(), t.GP64()
	t.Load(t.Param("b"), b)
	t.Load(t.Param("k"), k)
	for i := range rows * vectors {
		t.zero(t.vectors[i])
	}
	bv := t.vectors[t.rows[0]*2:]
	av := bv[2:]
	loop := t.label("k")
	t.Label(loop)
	for v := range vectors {
		t.move(operand.Mem{Base: b, Disp: v * t.width}, bv[v])
	}
	t.prefetchNext(rows, vectors, bases[0], b)
	t.ADDQ(t.bRow, b)
	for r := range rows {
		x := av[r%min(2, len(av))]
		t.broadcast(at[r], x)
		for v := range vectors {
			t.fma(bv[v], x, t.vectors[r*vectors+v])
		}
	}
	for _, p := range bases {
		t.ADDQ(t.aCol, p)
	}
	t.DECQ(k)
	t.JNE(operand.LabelRef(loop))
}

// prefetchNext asks for what the eighth step over k from here will read of B and, if its columns lie together,
// of A. Where rows lie far apart the processor does not foresee it.
func (t *panel) prefetchNext(rows, vectors int, a, b reg.GPVirtual) {
	for d := 0; d < vectors*t.width; d += 64 {
		t.PREFETCHT0(operand.Mem{Base: b, Index: t.bRow, Scale: 8, Disp: d})
	}
	t.PREFETCHT0(operand.Mem{Base: a, Index: t.aCol, Scale: 8})
	t.PREFETCHT0(operand.Mem{Base: a, Index: t.aCol, Scale: 8, Disp: (rows - 1) * t.size})
}

// prefetch asks for the lines of C that the tile will write after its last step over k.
func (t *panel) prefetch(rows, vectors int) {
	at, _ := t.rowPointers(rows, t.c, t.cRow, t.cRow3)
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
	at, _ := t.rowPointers(rows, t.c, t.cRow, t.cRow3)
	free := t.vectors[t.rows[0]*2:]
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
	// Masked stores are slow on some processors that have no mask registers: whole vectors go without.
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
	k := &mask{v: t.vectors[t.rows[0]*2+3]}
	t.makeMask(n, k)
	column(last, k)
	t.Label(done)
}
