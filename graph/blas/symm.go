package blas

import (
	"gonum.org/v1/gonum/blas"

	"attention/internal/kernel"
)

// Ssymm computes C ← α·A·B + β·C, or C ← α·B·A + β·C with A on the right, for (m,n) matrices B and C and a symmetric
// matrix A, whose other triangle is not read. With β = 0, C is not read.
func (i Implementation) Ssymm(s blas.Side, ul blas.Uplo, m, n int, alpha float32, a []float32, lda int,
	b []float32, ldb int, beta float32, c []float32, ldc int) {
	if m*n*size(s, m, n) < least.symm || !symm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc) {
		i.Implementation.Ssymm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Dsymm is Ssymm of float64.
func (i Implementation) Dsymm(s blas.Side, ul blas.Uplo, m, n int, alpha float64, a []float64, lda int,
	b []float64, ldb int, beta float64, c []float64, ldc int) {
	if m*n*size(s, m, n) < least.symm || !symm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc) {
		i.Implementation.Dsymm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

const (
	symmRows    = 256 // of A that are written out and multiplied at once
	symmPadding = 16  // behind a row of them, so that their columns do not compete for the same places in the cache
)

func symm[F kernel.Float](s blas.Side, ul blas.Uplo, m, n int, alpha F, a []F, lda int, b []F, ldb int,
	beta F, c []F, ldc int) bool {
	size := size(s, m, n)
	if alpha == 0 || !isSide(s) || !isUplo(ul) || !matrixFits(len(a), size, size, lda) ||
		!matrixFits(len(b), m, n, ldb) || !matrixFits(len(c), m, n, ldc) {
		return false
	}
	w := borrow[F]()
	ld := size + symmPadding
	for i0 := 0; i0 < size; i0 += symmRows {
		rows := min(symmRows, size-i0)
		p := room(&w.block, rows*ld)
		writeOut(p, ld, ul == blas.Upper, a, lda, size, i0, rows)
		if s == blas.Left {
			kernel.Gemm(kernel.NoTrans, kernel.NoTrans, rows, n, m, alpha, p, ld, b, ldb, beta, c[i0*ldc:], ldc)
		} else { // the rows of A are its columns
			kernel.Gemm(kernel.NoTrans, kernel.Trans, m, rows, n, alpha, b, ldb, p, ld, beta, c[i0:], ldc)
		}
	}
	w.giveBack()
	return true
}

// writeOut writes whole rows of a symmetric (n,n) matrix that is stored as one triangle to p.
func writeOut[F kernel.Float](p []F, ld int, upper bool, a []F, lda, n, i0, rows int) {
	i1 := i0 + rows
	for i := i0; i < i1; i++ {
		row := p[(i-i0)*ld:][:n]
		lo, hi, from, to := 0, i+1, i+1, i1 // what is stored, and what is not of the square on the diagonal
		if upper {
			lo, hi, from, to = i, n, i0, i
		}
		copy(row[lo:hi], a[i*lda+lo:])
		for j := from; j < to; j++ {
			row[j] = a[j*lda+i]
		}
	}
	if upper {
		kernel.CopyTransposed(i0, rows, p, ld, a[i0:], lda)
	} else if i1 < n {
		kernel.CopyTransposed(n-i1, rows, p[i1:], ld, a[i1*lda+i0:], lda)
	}
}
