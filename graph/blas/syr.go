package blas

import (
	"gonum.org/v1/gonum/blas"

	"attention/internal/kernel"
)

// Ssyr computes A ← α·x·xᵀ + A for one triangle of a symmetric (n,n) matrix A.
func (i Implementation) Ssyr(ul blas.Uplo, n int, alpha float32, x []float32, incX int, a []float32, lda int) {
	if n < least.syr || !syr(ul, n, alpha, x, incX, a, lda) {
		i.Implementation.Ssyr(ul, n, alpha, x, incX, a, lda)
	}
}

// Dsyr is Ssyr of float64.
func (i Implementation) Dsyr(ul blas.Uplo, n int, alpha float64, x []float64, incX int, a []float64, lda int) {
	if n < least.syr || !syr(ul, n, alpha, x, incX, a, lda) {
		i.Implementation.Dsyr(ul, n, alpha, x, incX, a, lda)
	}
}

func syr[F kernel.Float](ul blas.Uplo, n int, alpha F, x []F, incX int, a []F, lda int) bool {
	if !isUplo(ul) || !matrixFits(len(a), n, n, lda) || !vectorFits(len(x), n, incX) {
		return false
	}
	w := borrow[F]()
	x = gathered(&w.x, x, n, incX)
	for i, v := range x {
		lo, hi := rowOf(ul, i, n)
		kernel.Axpy(alpha*v, x[lo:hi], a[i*lda+lo:i*lda+hi])
	}
	w.giveBack()
	return true
}

// Ssyr2 computes A ← α·x·yᵀ + α·y·xᵀ + A for one triangle of a symmetric (n,n) matrix A.
func (i Implementation) Ssyr2(ul blas.Uplo, n int, alpha float32, x []float32, incX int, y []float32, incY int,
	a []float32, lda int) {
	if n < least.syr2 || !syr2(ul, n, alpha, x, incX, y, incY, a, lda) {
		i.Implementation.Ssyr2(ul, n, alpha, x, incX, y, incY, a, lda)
	}
}

// Dsyr2 is Ssyr2 of float64.
func (i Implementation) Dsyr2(ul blas.Uplo, n int, alpha float64, x []float64, incX int, y []float64, incY int,
	a []float64, lda int) {
	if n < least.syr2 || !syr2(ul, n, alpha, x, incX, y, incY, a, lda) {
		i.Implementation.Dsyr2(ul, n, alpha, x, incX, y, incY, a, lda)
	}
}

func syr2[F kernel.Float](ul blas.Uplo, n int, alpha F, x []F, incX int, y []F, incY int, a []F, lda int) bool {
	if !isUplo(ul) || !matrixFits(len(a), n, n, lda) || !vectorFits(len(x), n, incX) ||
		!vectorFits(len(y), n, incY) {
		return false
	}
	w := borrow[F]()
	x, y = gathered(&w.x, x, n, incX), gathered(&w.y, y, n, incY)
	for i := range n {
		lo, hi := rowOf(ul, i, n)
		row := a[i*lda+lo : i*lda+hi]
		kernel.Axpy(alpha*x[i], y[lo:hi], row)
		kernel.Axpy(alpha*y[i], x[lo:hi], row)
	}
	w.giveBack()
	return true
}

// rowOf returns the columns [lo,hi) of row i that lie in a triangle.
func rowOf(ul blas.Uplo, i, n int) (lo, hi int) {
	if ul == blas.Upper {
		return i, n
	}
	return 0, i + 1
}
