package blas

import (
	"sync"
	"unsafe"

	"attention/internal/kernel"
)

// squareRows is the largest number of rows on the diagonal of a symmetric matrix that are computed as a whole square,
// though only a triangle of it is stored.
const squareRows = 64

// panel is a part of a matrix.
type panel[F kernel.Float] struct {
	m, n int
	data []F
	ld   int
}

// cut splits a panel into its first rows, or columns, and the later ones.
func (p panel[F]) cut(columns bool, first int) (before, after panel[F]) {
	before, after = p, p
	if columns {
		before.n, after.n, after.data = first, p.n-first, p.data[first:]
	} else {
		before.m, after.m, after.data = first, p.m-first, p.data[first*p.ld:]
	}
	return before, after
}

// matrix returns a panel as an operand of a product.
func (p panel[F]) matrix() kernel.Matrix[F] { return kernel.Rows(p.data, p.ld) }

// row returns row i of a panel.
func (p panel[F]) row(i int) []F { return p.data[i*p.ld:][:p.n] }

// halved returns the index at which the rows [i0,i1) are halved: a multiple of step rows after i0.
func halved(i0, i1, step int) int { return i0 + ((i1-i0)/2+step-1)/step*step }

// workspace is the memory of a call besides its arguments. It is kept for the next call, so that no call allocates.
type workspace[F kernel.Float] struct{ data []F }

var workspaces = [2]sync.Pool{
	{New: func() any { return new(workspace[float32]) }},
	{New: func() any { return new(workspace[float64]) }},
}

func borrow[F kernel.Float]() *workspace[F] {
	return workspaces[unsafe.Sizeof(F(0))/8].Get().(*workspace[F])
}

func (w *workspace[F]) giveBack() { workspaces[unsafe.Sizeof(F(0))/8].Put(w) }

// room returns n elements, which hold the values of an earlier call.
func (w *workspace[F]) room(n int) []F {
	if cap(w.data) < n {
		w.data = make([]F, max(n, squareRows*squareRows))
	}
	return w.data[:n]
}
