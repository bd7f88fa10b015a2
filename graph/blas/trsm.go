package blas

import (
	"gonum.org/v1/gonum/blas"

	"attention/internal/kernel"
)

// Strmm computes B ← α·op(A)·B, or B ← α·B·op(A) with A on the right, for an (m,n) matrix B and a triangular matrix A,
// which op transposes or does not.
func (i Implementation) Strmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float32,
	a []float32, lda int, b []float32, ldb int) {
	if m*n*size(s, m, n) < least.triangular || !triangular(false, s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		i.Implementation.Strmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

// Dtrmm is Strmm of float64.
func (i Implementation) Dtrmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64,
	a []float64, lda int, b []float64, ldb int) {
	if m*n*size(s, m, n) < least.triangular || !triangular(false, s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		i.Implementation.Dtrmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

// Strsm solves op(A)·X = α·B, or X·op(A) = α·B with A on the right, for an (m,n) matrix X and a triangular matrix A,
// which op transposes or does not. X takes B's place. That A can be inverted is not checked.
func (i Implementation) Strsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float32,
	a []float32, lda int, b []float32, ldb int) {
	if m*n*size(s, m, n) < least.triangular || !triangular(true, s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		i.Implementation.Strsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

// Dtrsm is Strsm of float64.
func (i Implementation) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64,
	a []float64, lda int, b []float64, ldb int) {
	if m*n*size(s, m, n) < least.triangular || !triangular(true, s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		i.Implementation.Dtrsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

func triangular[F kernel.Float](solve bool, s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int,
	alpha F, a []F, lda int, b []F, ldb int) bool {
	t, ok := triangleOf(ul, tA, d, size(s, m, n), a, lda)
	if !ok || alpha == 0 || !isSide(s) || !matrixFits(len(b), m, n, ldb) {
		return false
	}
	w := borrow[F]()
	e := equation[F]{solve: solve, right: s == blas.Right, w: w}
	e.do(t, panel[F]{m, n, b, ldb}, alpha)
	w.giveBack()
	return true
}

// panel is a part of a matrix.
type panel[F kernel.Float] struct {
	m, n int
	data []F
	ld   int
}

// equation is X = α·op(A)·B, or op(A)·X = α·B to solve for X, with the triangle on the left or on the right.
type equation[F kernel.Float] struct {
	solve, right bool
	w            *memory[F]
}

// do puts X in the place of B. It halves the triangle: what stands beside the two halves is a product of matrices.
func (e equation[F]) do(t triangle[F], b panel[F], alpha F) {
	size := b.m
	if e.right {
		size = b.n
	}
	if size <= baseRows {
		e.base(t, b, size, alpha)
		return
	}
	mid := (size/2 + baseRows - 1) / baseRows * baseRows
	first, second := b, b
	if e.right {
		first.n, second.n, second.data = mid, b.n-mid, b.data[mid:]
	} else {
		first.m, second.m, second.data = mid, b.m-mid, b.data[mid*b.ld:]
	}
	beside := t.block(0, mid)
	if t.lower() {
		beside = t.block(mid, 0)
	}
	from, to := first, second // to needs what is in from, and not the other way round
	tFrom, tTo := t, t.from(mid)
	if t.lower() == e.right {
		from, to, tFrom, tTo = to, from, tTo, tFrom
	}
	if e.solve {
		e.do(tFrom, from, alpha)
		e.update(t, beside, from, to, -1, alpha)
		e.do(tTo, to, 1)
		return
	}
	e.do(tTo, to, alpha)
	e.update(t, beside, from, to, alpha, 1)
	e.do(tFrom, from, alpha)
}

// update sets to ← α·op(beside)·from + β·to, or α·from·op(beside) + β·to.
func (e equation[F]) update(t triangle[F], beside []F, from, to panel[F], alpha, beta F) {
	if e.right {
		kernel.Gemm(kernel.NoTrans, t.trans, to.m, to.n, from.n, alpha, from.data, from.ld, beside, t.lda,
			beta, to.data, to.ld)
		return
	}
	kernel.Gemm(t.trans, kernel.NoTrans, to.m, to.n, from.m, alpha, beside, t.lda, from.data, from.ld,
		beta, to.data, to.ld)
}
