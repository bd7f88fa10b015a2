package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A multiplier sums A·B over k in the accumulators.
type multiplier func(rows, vectors int)

// operands returns the registers for vectors of B and for elements of A, behind the accumulators.
func (t *panel) operands() (b, a []reg.VecPhysical) {
	free := t.vectors[2*t.tallest():]
	return free[:2], free[2:]
}

// tallest returns the height of the tallest tile.
func (t *panel) tallest() int {
	if t.grows {
		return t.rows[0] + 1
	}
	return t.rows[0]
}

// steps is the number of steps over k in one turn of the loop, which makes the share of pointer arithmetic small.
const steps = 4

// along writes the loop over k, several steps in one turn while there are enough: step gets their number, and advances
// the pointers.
func (t *panel) along(rows int, step func(count int, b reg.GPVirtual)) {
	b, k := t.GP64(), t.GP64()
	t.Load(t.Param("b"), b)
	t.Load(t.Param("k"), k)
	loop, rest, done := t.label("k"), t.label("rest"), t.label("summed")
	if rows >= t.rows[0] {
		t.SUBQ(operand.U32(steps), k)
		t.JLT(operand.LabelRef(rest))
		t.Label(loop)
		step(steps, b)
		t.SUBQ(operand.U32(steps), k)
		t.JGE(operand.LabelRef(loop))
		t.Label(rest)
		t.ADDQ(operand.U32(steps), k)
		t.JEQ(operand.LabelRef(done))
	}
	one := t.label("one")
	t.Label(one)
	step(1, b)
	t.DECQ(k)
	t.JNE(operand.LabelRef(one))
	t.Label(done)
}

// rowsOfA sums A·B over k in the accumulators, where the elements of a row of A are contiguous.
func (t *panel) rowsOfA(rows, vectors int) {
	at, bases := t.rowPointers(rows, t.a, t.aRow)
	bv, av := t.operands()
	t.along(rows, func(count int, b reg.GPVirtual) {
		for q := range count {
			t.rowOfB(b, bv[:vectors])
			for r := range rows {
				x, m := av[r%2], at[r]
				m.Disp += q * t.size
				t.broadcast(m, x)
				t.addProducts(r, x, bv[:vectors])
			}
		}
		for _, p := range bases {
			t.ADDQ(operand.U32(count*t.size), p)
		}
	})
}

// columnsOfA sums A·B over k in the accumulators, where the elements of a column of A are contiguous. With AVX-512
// every other row multiplies its element directly from memory, which saves an instruction.
func (t *panel) columnsOfA(rows, vectors int) {
	bv, av := t.operands()
	a, aCol := t.GP64(), t.GP64()
	t.MOVQ(t.a, a)
	t.loadInto(aCol, "aCol")
	t.along(rows, func(count int, b reg.GPVirtual) {
		for range count {
			t.rowOfB(b, bv[:vectors])
			for r := range rows {
				m := operand.Mem{Base: a, Disp: r * t.size}
				if t.inMemory && r%2 == 1 {
					t.addProductsOf(r, m, bv[:vectors])
					continue
				}
				x := av[r/2%2]
				t.broadcast(m, x)
				t.addProducts(r, x, bv[:vectors])
			}
			t.prefetchAhead(a, aCol, rows)
			t.ADDQ(aCol, a)
		}
	})
}

// prefetchAhead prefetches the elements of A for the eighth step over k from here: the processor does not prefetch
// columns with a large stride.
func (t *panel) prefetchAhead(a, aCol reg.GPVirtual, rows int) {
	t.PREFETCHT0(operand.Mem{Base: a, Index: aCol, Scale: 8})
	t.PREFETCHT0(operand.Mem{Base: a, Index: aCol, Scale: 8, Disp: (rows - 1) * t.size})
}

// rowOfB loads a row of B and moves on to the next.
func (t *panel) rowOfB(b reg.GPVirtual, bv []reg.VecPhysical) {
	for v, x := range bv {
		t.move(operand.Mem{Base: b, Disp: v * t.width}, x)
	}
	t.ADDQ(t.bRow, b)
}

// addProducts adds the products of an element of row r of A with a row of B.
func (t *panel) addProducts(r int, x reg.VecPhysical, bv []reg.VecPhysical) {
	for v := range bv {
		t.multiplyAdd(bv[v], x, t.vectors[r*len(bv)+v])
	}
}

// addProductsOf is addProducts of an element in memory.
func (t *panel) addProductsOf(r int, m operand.Mem, bv []reg.VecPhysical) {
	for v := range bv {
		either(t.generator, t.VFMADD231PS_BCST, t.VFMADD231PD_BCST)(m, bv[v], t.vectors[r*len(bv)+v])
	}
}
