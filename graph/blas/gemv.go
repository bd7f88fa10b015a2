package blas

import (
	"gonum.org/v1/gonum/blas"

	"attention/internal/kernel"
)

// Sgemv computes y ← α·op(A)·x + β·y for an (m,n) matrix A, which op transposes or does not. With β = 0, y is not
// read.
func (i Implementation) Sgemv(tA blas.Transpose, m, n int, alpha float32, a []float32, lda int, x []float32, incX int,
	beta float32, y []float32, incY int) {
	if incX == 1 && incY == 1 && m*n < least.sgemv && tA == blas.NoTrans ||
		!gemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY) {
		i.Implementation.Sgemv(tA, m, n, alpha, a, lda, x, incX, beta, ending(tA, m, n, y, incY), incY)
	}
}

// Dgemv is Sgemv of float64.
func (i Implementation) Dgemv(tA blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int,
	beta float64, y []float64, incY int) {
	if incX == 1 && incY == 1 && m*n < least.dgemv || !gemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY) {
		i.Implementation.Dgemv(tA, m, n, alpha, a, lda, x, incX, beta, ending(tA, m, n, y, incY), incY)
	}
}

// ending returns y without what is behind its elements, which gonum may clear.
func ending[F kernel.Float](tA blas.Transpose, m, n int, y []F, incY int) []F {
	out := m
	if tA != blas.NoTrans {
		out = n
	}
	if incY == 1 && 0 <= out && out < len(y) {
		return y[:out]
	}
	return y
}

func gemv[F kernel.Float](tA blas.Transpose, m, n int, alpha F, a []F, lda int, x []F, incX int,
	beta F, y []F, incY int) bool {
	in, out := n, m
	if tA != blas.NoTrans {
		in, out = m, n
	}
	if !isTranspose(tA) || !matrixFits(len(a), m, n, lda) || !vectorFits(len(x), in, incX) ||
		!vectorFits(len(y), out, incY) {
		return false
	}
	if m*n < least.smallGemv {
		smallGemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return true
	}
	if incX == 1 && incY == 1 {
		kernel.Gemv(transposed(tA), m, n, alpha, a, lda, x[:in], beta, y[:out])
		return true
	}
	w := borrow[F]()
	// With β = 0 the elements of y are copied, but not read.
	u, v := gathered(&w.x, x, in, incX), gathered(&w.y, y, out, incY)
	kernel.Gemv(transposed(tA), m, n, alpha, a, lda, u, beta, v)
	scatter(v, y, incY)
	w.giveBack()
	return true
}

// smallGemv is gemv, done before the kernels have begun.
func smallGemv[F kernel.Float](tA blas.Transpose, m, n int, alpha F, a []F, lda int, x []F, incX int,
	beta F, y []F, incY int) {
	in, out, row, col := n, m, lda, 1
	if tA != blas.NoTrans {
		in, out, row, col = m, n, 1, lda
	}
	firstX := first(in, incX)
	for i, yt := 0, first(out, incY); i < out; i, yt = i+1, yt+incY {
		var sum F
		if alpha != 0 { // otherwise neither A nor x is read
			for j, at, xt := 0, i*row, firstX; j < in; j, at, xt = j+1, at+col, xt+incX {
				sum += a[at] * x[xt]
			}
		}
		if beta == 0 {
			y[yt] = alpha * sum
		} else {
			y[yt] = alpha*sum + beta*y[yt]
		}
	}
}

// Sger computes A ← α·x·yᵀ + A for an (m,n) matrix A.
func (i Implementation) Sger(m, n int, alpha float32, x []float32, incX int, y []float32, incY int,
	a []float32, lda int) {
	if m*n < least.ger && incX > 0 && incY > 0 || !ger(m, n, alpha, x, incX, y, incY, a, lda) {
		i.Implementation.Sger(m, n, alpha, x, incX, y, incY, a, lda)
	}
}

// Dger is Sger of float64.
func (i Implementation) Dger(m, n int, alpha float64, x []float64, incX int, y []float64, incY int,
	a []float64, lda int) {
	if m*n < least.ger && incX > 0 && incY > 0 || !ger(m, n, alpha, x, incX, y, incY, a, lda) {
		i.Implementation.Dger(m, n, alpha, x, incX, y, incY, a, lda)
	}
}

func ger[F kernel.Float](m, n int, alpha F, x []F, incX int, y []F, incY int, a []F, lda int) bool {
	if !matrixFits(len(a), m, n, lda) || !vectorFits(len(x), m, incX) || !vectorFits(len(y), n, incY) {
		return false
	}
	if incX == 1 && incY == 1 {
		kernel.Ger(alpha, x[:m], y[:n], a, lda)
		return true
	}
	w := borrow[F]()
	kernel.Ger(alpha, gathered(&w.x, x, m, incX), gathered(&w.y, y, n, incY), a, lda)
	w.giveBack()
	return true
}
