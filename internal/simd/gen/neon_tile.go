package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// panelNEON is the state of the function that multiplies a panel of columns.
type panelNEON struct {
	*generator
	neon
	m, a, aRow, aCol, bRow, c, cRow reg.GPVirtual
}

// Registers of a panel, besides its accumulators.
const (
	columnsOfB = 24 // two vectors of a row of B
	columnOfA  = 26 // and six of a column of A
)

// tileNEON is tile. An accumulator takes its products in the order of k as well.
func (g *generator) tileNEON() {
	t := &panelNEON{
		generator: g, neon: neon{g}, m: g.GP64(), a: g.GP64(), aRow: g.GP64(), aCol: g.GP64(), bRow: g.GP64(),
		c: g.GP64(), cRow: g.GP64(),
	}
	g.loadInto(t.m, "m")
	g.loadInto(t.a, "a")
	g.loadInto(t.c, "c")
	g.loadInto(t.aRow, "aRow")
	g.loadInto(t.aCol, "aCol")
	g.loadInto(t.bRow, "bRow")
	g.loadInto(t.cRow, "cRow")
	n, narrow := g.GP64(), g.label("narrow")
	g.parameter("n", n)
	g.check(n, operand.U32(g.lanes()))
	g.jumpIf(notAbove, narrow)
	t.tiles(2)
	g.end()
	g.Label(narrow)
	t.tiles(1)
}

// tiles goes down the rows with the tallest tile and ends with one tile of each smaller height that is needed.
func (t *panelNEON) tiles(vectors int) {
	g := t.generator
	g.heights(t.m, func(rows int, away string) {
		t.multiply(rows, vectors)
		t.update(rows, vectors)
		g.decrease(operand.U32(rows), t.m)
		step := g.GP64()
		if away != "" {
			g.loadInto(step, away)
		} else {
			g.times(operand.U32(rows), t.aRow, step)
		}
		g.increase(step, t.a)
	})
}

// multiply sums A·B over k in the accumulators. If the rows of a column of A are contiguous, it reads whole vectors of
// them; otherwise one element of each.
func (t *panelNEON) multiply(rows, vectors int) {
	g := t.generator
	for i := range rows * vectors {
		t.bytes("VEOR", i, i, i)
	}
	b, k := g.GP64(), g.GP64()
	g.parameter("b", b)
	g.parameter("k", k)
	apart, done := g.label("apart"), g.label("summed")
	if rows%4 == 0 {
		g.check(t.aRow, operand.U32(g.size))
		g.jumpIf(other, apart)
		a := g.GP64()
		g.set(t.a, a)
		t.loop(k, func() {
			t.readRow(b, vectors)
			t.together(a, rows, vectors)
		})
		g.jump(done)
		g.Label(apart)
	}
	bases, offsets := t.rowsApart(rows)
	t.loop(k, func() {
		t.readRow(b, vectors)
		t.strided(bases, offsets, rows, vectors)
	})
	g.Label(done)
}

// loop does a step k times.
func (t *panelNEON) loop(k reg.GPVirtual, step func()) {
	loop := t.generator.label("k")
	t.generator.align()
	t.generator.Label(loop)
	step()
	t.generator.countDown(k)
	t.generator.jumpIf(other, loop)
}

// readRow reads a row of B and advances to the next.
func (t *panelNEON) readRow(b reg.GPVirtual, vectors int) {
	t.pair("FLDPQ (%%[1]s), (F%d, F%d)", "FMOVQ (%%[1]s), F%d", b, columnsOfB, vectors)
	t.neon.increase(t.bRow, b)
}

// pair writes an instruction for two vectors, or that for one.
func (t *panelNEON) pair(two, one string, at reg.GPVirtual, first, vectors int) {
	if vectors == 2 {
		t.use(fmt.Sprintf(two, first, first+1), at)
	} else {
		t.use(fmt.Sprintf(one, first), at)
	}
}

// together reads rows elements of A that are contiguous.
func (t *panelNEON) together(a reg.GPVirtual, rows, vectors int) {
	each := 16 / t.size
	count := rows / each
	for i := 0; i < count; i += 2 {
		if i+1 < count {
			t.use(fmt.Sprintf("FLDPQ %d(%%[1]s), (F%d, F%d)", 16*i, columnOfA+i, columnOfA+i+1), a)
		} else {
			t.use(fmt.Sprintf("FMOVQ %d(%%[1]s), F%d", 16*i, columnOfA+i), a)
		}
	}
	t.neon.increase(t.aCol, a)
	for r := range rows {
		for v := range vectors {
			t.fmaElement(columnOfA+r/each, r%each, columnsOfB+v, r*vectors+v)
		}
	}
}

// rowsApart returns a register for each four rows of A, and the offsets of the second to the fourth of them.
func (t *panelNEON) rowsApart(rows int) (bases, offsets []reg.GPVirtual) {
	g := t.generator
	for r := 0; r < rows; r += 4 {
		p := g.GP64()
		if r == 0 {
			g.set(t.a, p)
		} else {
			g.address(operand.Mem{Base: bases[len(bases)-1], Index: t.aRow, Scale: 4}, p)
		}
		bases = append(bases, p)
	}
	offsets = []reg.GPVirtual{t.aRow}
	for i := range min(rows, 4) - 2 {
		p := g.GP64()
		g.address(operand.Mem{Base: offsets[i], Index: t.aRow, Scale: 1}, p)
		offsets = append(offsets, p)
	}
	return bases, offsets
}

// strided reads one element of each row of A.
func (t *panelNEON) strided(bases, offsets []reg.GPVirtual, rows, vectors int) {
	for r := range rows {
		x := columnOfA + r%6
		if r%4 == 0 {
			t.use(fmt.Sprintf("%s (%%[1]s), F%d", t.scalar(), x), bases[r/4])
		} else {
			t.use(fmt.Sprintf("%s (%%[1]s)(%%[2]s), F%d", t.scalar(), x), bases[r/4], offsets[r%4-1])
		}
		for v := range vectors {
			t.fmaElement(x, 0, columnsOfB+v, r*vectors+v)
		}
	}
	for _, p := range bases {
		t.neon.increase(t.aCol, p)
	}
}

// update writes α·accumulator + β·C, without reading C when β = 0, and advances to the rows below.
func (t *panelNEON) update(rows, vectors int) {
	g := t.generator
	alpha, beta := t.vectors[columnsOfB], t.vectors[columnsOfB+1]
	g.broadcast(inMemory(g.Param("alpha")), alpha)
	g.broadcast(inMemory(g.Param("beta")), beta)
	for i := range rows * vectors {
		g.mul(alpha, t.vectors[i], t.vectors[i])
	}
	bits, n := g.GP64(), g.GP64()
	t.assign(either(g, "MOVWU ", "MOVD ")+inMemory(g.Param("beta")).Asm()+", %[1]s", bits)
	g.shiftLeft(operand.U8(65-8*g.size), bits) // drops the sign: −0 is 0
	g.parameter("n", n)
	g.decrease(operand.U32((vectors-1)*g.lanes()), n)
	edge, done := g.label("edge"), g.label("done")
	g.check(n, operand.U32(g.lanes()))
	g.jumpIf(other, edge)
	t.store(rows, vectors, bits, nil, done)
	g.Label(edge)
	k := &mask{v: t.vectors[29]}
	g.makeMask(n, k)
	t.store(rows, vectors, bits, k, done)
	g.Label(done)
}

// store writes the rows of a tile, the last of its vectors under a mask.
func (t *panelNEON) store(rows, vectors int, bits reg.GPVirtual, k *mask, done string) {
	g := t.generator
	fresh := g.label("fresh")
	t.branch("CBZ %[2]s, %[1]s", fresh, bits)
	t.storeRows(rows, vectors, k, true)
	g.jump(done)
	g.Label(fresh)
	t.storeRows(rows, vectors, k, false)
	g.jump(done)
}

func (t *panelNEON) storeRows(rows, vectors int, k *mask, add bool) {
	g := t.generator
	beta, old := t.vectors[columnsOfB+1], t.vectors[columnOfA:]
	for r := range rows {
		for v := range vectors {
			part := k
			if v < vectors-1 {
				part = nil
			}
			acc, m := t.vectors[r*vectors+v], operand.Mem{Base: t.c, Disp: v * t.width}
			if add {
				g.read(m, part, old[v])
				g.fma(beta, old[v], acc)
			}
			g.write(acc, part, m)
		}
		g.increase(t.cRow, t.c)
	}
}
