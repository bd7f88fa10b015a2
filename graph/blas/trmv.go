package blas

import (
	"gonum.org/v1/gonum/blas"

	"attention/internal/kernel"
)

// Strmv computes x ← op(A)·x for a triangular (n,n) matrix A, which op transposes or does not.
func (i Implementation) Strmv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float32, lda int,
	x []float32, incX int) {
	if n < least.trmv || !trmv(ul, tA, d, n, a, lda, x, incX) {
		i.Implementation.Strmv(ul, tA, d, n, a, lda, x, incX)
	}
}

// Dtrmv is Strmv of float64.
func (i Implementation) Dtrmv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int,
	x []float64, incX int) {
	if n < least.trmv || !trmv(ul, tA, d, n, a, lda, x, incX) {
		i.Implementation.Dtrmv(ul, tA, d, n, a, lda, x, incX)
	}
}

// vectorBlock is how many rows of a triangle meet a vector one by one; the matrix beside them does at once.
const vectorBlock = 64

func trmv[F kernel.Float](ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []F, lda int, x []F, incX int) bool {
	t, ok := triangleOf(ul, tA, d, n, a, lda)
	if !ok || !vectorFits(len(x), n, incX) {
		return false
	}
	w := borrow[F]()
	y := gathered(&w.y, x, n, incX)
	before := room(&w.x, n)
	copy(before, y)
	blocks := (n + vectorBlock - 1) / vectorBlock
	kernel.Share(trmvCall[F]{t, before, y}, blocks, max(1, 2*gemvWork/(n*vectorBlock)))
	scatter(y, x, incX)
	w.giveBack()
	return true
}

// gemvWork is how many elements of a matrix are worth a goroutine.
const gemvWork = 1 << 15

// trmvCall sets y to op(A)·x.
type trmvCall[F kernel.Float] struct {
	t    triangle[F]
	x, y []F
}

// Do does the blocks [lo,hi) of y.
func (c trmvCall[F]) Do(lo, hi int) {
	n := len(c.x)
	for b := lo; b < hi; b++ {
		i0, i1 := b*vectorBlock, min((b+1)*vectorBlock, n)
		c.diagonal(i0, i1)
		j0, j1 := i1, n // where op(A) has something beside the diagonal
		if c.t.lower() {
			j0, j1 = 0, i0
		}
		if j0 < j1 {
			rows, cols := i1-i0, j1-j0
			if c.t.trans {
				rows, cols = cols, rows
			}
			kernel.Gemv(c.t.trans, rows, cols, 1, c.t.block(i0, j0), c.t.lda, c.x[j0:j1], 1, c.y[i0:i1])
		}
	}
}

// diagonal sets a block of y to what the block on the diagonal gives.
func (c *trmvCall[F]) diagonal(i0, i1 int) {
	for i := i0; i < i1; i++ {
		c.y[i] = c.x[i]
		if !c.t.unit {
			c.y[i] *= c.t.a[i*c.t.lda+i]
		}
	}
	for i := i0; i < i1; i++ {
		lo, hi := c.t.beside(i, i0, i1)
		row := c.t.a[i*c.t.lda+lo : i*c.t.lda+hi]
		if c.t.trans {
			kernel.Axpy(c.x[i], row, c.y[lo:hi])
		} else {
			c.y[i] += kernel.Dot(row, c.x[lo:hi])
		}
	}
}

// Strsv solves op(A)·x = b for a triangular (n,n) matrix A, which op transposes or does not. On entry x holds b. That A
// can be inverted is not checked.
func (i Implementation) Strsv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float32, lda int,
	x []float32, incX int) {
	if n < least.trsv || !trsv(ul, tA, d, n, a, lda, x, incX) {
		i.Implementation.Strsv(ul, tA, d, n, a, lda, x, incX)
	}
}

// Dtrsv is Strsv of float64.
func (i Implementation) Dtrsv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int,
	x []float64, incX int) {
	if n < least.trsv || !trsv(ul, tA, d, n, a, lda, x, incX) {
		i.Implementation.Dtrsv(ul, tA, d, n, a, lda, x, incX)
	}
}

func trsv[F kernel.Float](ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []F, lda int, x []F, incX int) bool {
	t, ok := triangleOf(ul, tA, d, n, a, lda)
	if !ok || !vectorFits(len(x), n, incX) {
		return false
	}
	w := borrow[F]()
	y := gathered(&w.x, x, n, incX)
	for done := 0; done < n; done += vectorBlock {
		i0, i1 := done, min(done+vectorBlock, n)
		if !t.lower() { // from the last to the first
			i0, i1 = n-i1, n-i0
		}
		t.solveBlock(i0, i1, y)
	}
	scatter(y, x, incX)
	w.giveBack()
	return true
}

// solveBlock solves for x[i0:i1] when all before it, in the order of solving, is solved.
func (t *triangle[F]) solveBlock(i0, i1 int, x []F) {
	lo, hi := 0, i0 // the columns of the stored rows beside the block
	if t.upper {
		lo, hi = i1, len(x)
	}
	beside := t.a[i0*t.lda+lo:]
	if !t.trans && lo < hi {
		kernel.Gemv(kernel.NoTrans, i1-i0, hi-lo, -1, beside, t.lda, x[lo:hi], 1, x[i0:i1])
	}
	for k := range i1 - i0 {
		i := i0 + k
		if !t.lower() {
			i = i1 - 1 - k
		}
		from, to := t.beside(i, i0, i1)
		row := t.a[i*t.lda+from : i*t.lda+to]
		if !t.trans {
			x[i] -= kernel.Dot(row, x[from:to])
		}
		if !t.unit {
			x[i] /= t.a[i*t.lda+i]
		}
		if t.trans {
			kernel.Axpy(-x[i], row, x[from:to])
		}
	}
	if t.trans && lo < hi {
		kernel.Gemv(kernel.Trans, i1-i0, hi-lo, -1, beside, t.lda, x[i0:i1], 1, x[lo:hi])
	}
}
