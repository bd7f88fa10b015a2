package blas

import (
	"math"

	"attention/internal/kernel"
)

const (
	baseRows    = 32  // of the largest triangle that is not halved
	baseColumns = 256 // that stay in the first-level cache while all rows pass over them
)

// base is do for a triangle that is not halved. On the right it computes op(A)ᵀ·Bᵀ.
func (e equation[F]) base(t triangle[F], b panel[F], size int, alpha F) {
	c := baseCall[F]{solve: e.solve, right: e.right, lower: t.lower() != e.right, size: size, alpha: alpha, b: b}
	c.a = room(&e.w.block, baseRows*baseRows)
	c.copyTriangle(t)
	n := b.n
	if e.right {
		n = b.m
	}
	kernel.Share(c, n, baseColumns)
}

// baseCall is a small equation. Its columns, or its rows with the triangle on the right, do not touch each other.
type baseCall[F kernel.Float] struct {
	solve, right, lower bool
	size                int
	a                   []F // the triangle that stands on the left, baseRows from one row to the next
	alpha               F
	b                   panel[F]
}

func (c *baseCall[F]) copyTriangle(t triangle[F]) {
	t.trans = t.trans != kernel.Transpose(c.right)
	for i := range c.size {
		lo, hi := c.beside(i)
		for j := lo; j < hi; j++ {
			c.a[i*baseRows+j] = t.block(i, j)[0]
		}
		c.a[i*baseRows+i] = 1
		if !t.unit {
			c.a[i*baseRows+i] = t.block(i, i)[0]
		}
	}
}

// beside returns the columns of a row of the triangle, without the diagonal.
func (c *baseCall[F]) beside(i int) (lo, hi int) {
	if c.lower {
		return 0, i
	}
	return i + 1, c.size
}

// Do does the columns, or rows, [lo,hi).
func (c baseCall[F]) Do(lo, hi int) {
	for ; lo < hi; lo += baseColumns {
		n := min(baseColumns, hi-lo)
		if !c.right {
			c.columns(c.b.data[lo:], c.b.ld, n)
			continue
		}
		w := borrow[F]()
		turned, rows := room(&w.x, c.size*n), c.b.data[lo*c.b.ld:]
		kernel.CopyTransposed(n, c.size, turned, n, rows, c.b.ld)
		c.columns(turned, n, n)
		kernel.CopyTransposed(c.size, n, rows, c.b.ld, turned, n)
		w.giveBack()
	}
}

// columns does n columns, row by row: each from rows that are solved already, or not yet multiplied.
func (c *baseCall[F]) columns(b []F, ld, n int) {
	for k := range c.size {
		i := k
		if c.lower != c.solve {
			i = c.size - 1 - k
		}
		lo, hi := c.beside(i)
		var others []F
		if lo < hi {
			others = b[lo*ld:]
		}
		row, factors, d := b[i*ld:][:n], c.a[i*baseRows+lo:i*baseRows+hi], c.a[i*baseRows+i]
		if !c.solve {
			kernel.Gemv(kernel.Trans, hi-lo, n, c.alpha, others, ld, factors, c.alpha*d, row)
			continue
		}
		kernel.Gemv(kernel.Trans, hi-lo, n, -1, others, ld, factors, c.alpha, row)
		divide(row, d)
	}
}

// divide divides x by d.
func divide[F kernel.Float](x []F, d F) {
	switch inverse := 1 / d; {
	case d == 1:
	case d != 0 && math.IsInf(float64(inverse), 0): // d is so small that only its inverse overflows
		for i := range x {
			x[i] /= d
		}
	default:
		kernel.Scale(x, x, inverse)
	}
}
