package blas

import (
	"math"

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
// which op transposes or does not. X overwrites B. The function does not check that A can be inverted.
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

// rightRows is the number of rows that are transposed together if the triangle is on the right.
const rightRows = 256

func triangular[F kernel.Float](solve bool, s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int,
	alpha F, a []F, lda int, b []F, ldb int) bool {
	size := size(s, m, n)
	if alpha == 0 || !isSide(s) || !isUplo(ul) || !isTranspose(tA) || !isDiag(d) ||
		!matrixFits(len(a), size, size, lda) || !matrixFits(len(b), m, n, ldb) {
		return false
	}
	e := equation[F]{solve: solve, upper: ul == blas.Upper, unit: d == blas.Unit, trans: transposed(tA), a: a, lda: lda}
	if s == blas.Left {
		e.do(0, m, panel[F]{m, n, b, ldb}, alpha)
		return true
	}
	e.trans = !e.trans // X·op(A) is the transpose of op(A)ᵀ·Xᵀ
	w := borrow[F]()
	for r := 0; r < m; r += rightRows {
		rows, part := min(rightRows, m-r), b[r*ldb:]
		turned := w.room(n * rows)
		kernel.CopyTransposed(rows, n, turned, rows, part, ldb)
		e.do(0, n, panel[F]{n, rows, turned, rows}, alpha)
		kernel.CopyTransposed(n, rows, part, ldb, turned, rows)
	}
	w.giveBack()
	return true
}

// equation is X = α·op(A)·B, or the equation op(A)·X = α·B to solve for X, with a triangular matrix A that op
// transposes or does not. If A is unit, its diagonal is not read and counts as ones.
type equation[F kernel.Float] struct {
	solve       bool
	upper, unit bool // as stored
	trans       bool
	a           []F
	lda         int
}

// lower reports whether op(A) is lower triangular.
func (e *equation[F]) lower() bool { return e.upper == e.trans }

// from returns the stored elements of op(A) from row i and column j.
func (e *equation[F]) from(i, j int) []F {
	if e.trans {
		i, j = j, i
	}
	return e.a[i*e.lda+j:]
}

// fewRows is the number of rows of a triangle that are added row by row.
const fewRows = 8

// do overwrites the rows [i0,i1) of B by those of X. It halves the triangle: the block beside the two halves is a
// product of matrices.
func (e *equation[F]) do(i0, i1 int, b panel[F], alpha F) {
	if i1-i0 <= fewRows {
		e.rows(i0, i1, b, alpha)
		return
	}
	mid := halved(i0, i1, fewRows)
	first, second := b.cut(false, mid-i0)
	switch {
	case e.lower() && e.solve:
		e.do(i0, mid, first, alpha)
		e.add(e.from(mid, i0), first, second, -1, alpha)
		e.do(mid, i1, second, 1)
	case e.lower():
		e.do(mid, i1, second, alpha)
		e.add(e.from(mid, i0), first, second, alpha, 1)
		e.do(i0, mid, first, alpha)
	case e.solve:
		e.do(mid, i1, second, alpha)
		e.add(e.from(i0, mid), second, first, -1, alpha)
		e.do(i0, mid, first, 1)
	default:
		e.do(i0, mid, first, alpha)
		e.add(e.from(i0, mid), second, first, alpha, 1)
		e.do(mid, i1, second, alpha)
	}
}

// add sets y ← α·op(a)·x + β·y.
func (e *equation[F]) add(a []F, x, y panel[F], alpha, beta F) {
	kernel.Product[F]{M: y.m, N: y.n, K: x.m, Alpha: alpha, A: kernel.Rows(a, e.lda).Op(e.trans), B: x.matrix(),
		Beta: beta, C: y.matrix()}.Compute()
}

// rows does the same row by row: each row is computed from rows that are solved already, or not yet multiplied.
func (e *equation[F]) rows(i0, i1 int, b panel[F], alpha F) {
	for k := range i1 - i0 {
		i := i0 + k
		if e.lower() != e.solve {
			i = i1 - 1 - k
		}
		lo, hi := i+1, i1
		if e.lower() {
			lo, hi = i0, i
		}
		row, d, factor := b.row(i-i0), F(1), alpha
		if !e.unit {
			d = e.a[i*e.lda+i]
		}
		if !e.solve {
			kernel.Scale(row, row, alpha*d)
		} else if alpha != 1 {
			kernel.Scale(row, row, alpha)
		}
		if e.solve {
			factor = -1
		}
		for j := lo; j < hi; j++ {
			kernel.Axpy(factor*e.from(i, j)[0], b.row(j-i0), row)
		}
		if e.solve {
			divide(row, d)
		}
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
