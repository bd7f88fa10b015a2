package blas

import (
	"gonum.org/v1/gonum/blas"

	"attention/internal/kernel"
)

// Ssymv computes y ← α·A·x + β·y for a symmetric (n,n) matrix A, whose other triangle is not read. With β = 0, y is not
// read.
func (i Implementation) Ssymv(ul blas.Uplo, n int, alpha float32, a []float32, lda int, x []float32, incX int,
	beta float32, y []float32, incY int) {
	if n < least.symv || !symv(ul, n, alpha, a, lda, x, incX, beta, y, incY) {
		i.Implementation.Ssymv(ul, n, alpha, a, lda, x, incX, beta, y, incY)
	}
}

// Dsymv is Ssymv of float64.
func (i Implementation) Dsymv(ul blas.Uplo, n int, alpha float64, a []float64, lda int, x []float64, incX int,
	beta float64, y []float64, incY int) {
	if n < least.symv || !symv(ul, n, alpha, a, lda, x, incX, beta, y, incY) {
		i.Implementation.Dsymv(ul, n, alpha, a, lda, x, incX, beta, y, incY)
	}
}

const (
	symvRows    = 32   // of a block
	symvColumns = 1024 // that are read for rows, and from the cache again for columns
	symvParts   = 8    // with a sum each, for as many goroutines at most
	symvLeast   = 256  // rows that are worth several goroutines
)

func symv[F kernel.Float](ul blas.Uplo, n int, alpha F, a []F, lda int, x []F, incX int, beta F, y []F, incY int) bool {
	if alpha == 0 || !isUplo(ul) || !matrixFits(len(a), n, n, lda) ||
		!vectorFits(len(x), n, incX) || !vectorFits(len(y), n, incY) {
		return false
	}
	w := borrow[F]()
	v := gathered(&w.y, y, n, incY)
	switch beta {
	case 0:
		clear(v)
	case 1:
	default:
		kernel.Scale(v, v, beta)
	}
	c := symvCall[F]{upper: ul == blas.Upper, alpha: alpha, a: a, lda: lda, x: gathered(&w.x, x, n, incX)}
	if n < symvLeast {
		c.sums = v
		c.part(0, 1)
	} else {
		c.sums = room(&w.block, symvParts*n)
		clear(c.sums)
		kernel.Share(c, symvParts, 1)
		for i := range symvParts {
			kernel.Axpy(1, c.sums[i*n:][:n], v)
		}
	}
	scatter(v, y, incY)
	w.giveBack()
	return true
}

// symvCall adds α·A·x to sums: each part of the rows has a sum of its own.
type symvCall[F kernel.Float] struct {
	upper bool
	alpha F
	a     []F
	lda   int
	x     []F
	sums  []F
}

// Do does the parts [lo,hi).
func (c symvCall[F]) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		c.part(i, symvParts)
	}
}

// part does every block of rows whose number is p, counted modulo parts: so all parts have as much to do.
func (c *symvCall[F]) part(p, parts int) {
	n := len(c.x)
	y := c.sums[p*n:][:n]
	for i0 := p * symvRows; i0 < n; i0 += parts * symvRows {
		i1 := min(i0+symvRows, n)
		c.diagonal(i0, i1, y)
		lo, hi := 0, i0
		if c.upper {
			lo, hi = i1, n
		}
		for j0 := lo; j0 < hi; j0 += symvColumns {
			j1 := min(j0+symvColumns, hi)
			a := c.a[i0*c.lda+j0:]
			kernel.Gemv(kernel.NoTrans, i1-i0, j1-j0, c.alpha, a, c.lda, c.x[j0:j1], 1, y[i0:i1])
			kernel.Gemv(kernel.Trans, i1-i0, j1-j0, c.alpha, a, c.lda, c.x[i0:i1], 1, y[j0:j1])
		}
	}
}

// diagonal does the block on the diagonal.
func (c *symvCall[F]) diagonal(i0, i1 int, y []F) {
	for i := i0; i < i1; i++ {
		row := c.a[i*c.lda:]
		lo, hi := i0, i
		if c.upper {
			lo, hi = i+1, i1
		}
		xi, sum := c.alpha*c.x[i], row[i]*c.x[i]
		for j := lo; j < hi; j++ {
			y[j] += xi * row[j]
			sum += row[j] * c.x[j]
		}
		y[i] += c.alpha * sum
	}
}
