package blas

import (
	"gonum.org/v1/gonum/blas"

	"attention/internal/kernel"
)

// Sgemm computes C ← α·op(A)·op(B) + β·C, where op(A) is (m,k), op(B) is (k,n) and op transposes or does not. With
// β = 0, C is not read.
func (i Implementation) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int,
	b []float32, ldb int, beta float32, c []float32, ldc int) {
	if !gemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		i.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Dgemm is Sgemm of float64.
func (i Implementation) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int,
	b []float64, ldb int, beta float64, c []float64, ldc int) {
	if !gemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		i.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

func gemm[F kernel.Float](tA, tB blas.Transpose, m, n, k int, alpha F, a []F, lda int, b []F, ldb int,
	beta F, c []F, ldc int) bool {
	if !storedFits(tA, len(a), m, k, lda) || !storedFits(tB, len(b), k, n, ldb) || !matrixFits(len(c), m, n, ldc) {
		return false
	}
	if m*n*k < least.product {
		smallProduct(transposed(tA), transposed(tB), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	} else {
		kernel.Gemm(transposed(tA), transposed(tB), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
	return true
}

// smallProduct is gemm, done before the kernels have begun.
func smallProduct[F kernel.Float](tA, tB kernel.Transpose, m, n, k int, alpha F, a []F, lda int, b []F, ldb int,
	beta F, c []F, ldc int) {
	aRow, aCol, bRow, bCol := lda, 1, ldb, 1
	if tA {
		aRow, aCol = aCol, aRow
	}
	if tB {
		bRow, bCol = bCol, bRow
	}
	for i := range m {
		row := c[i*ldc:][:n]
		for j := range row {
			var sum F
			if alpha != 0 { // otherwise neither A nor B is read
				for l, at, bt := 0, i*aRow, j*bCol; l < k; l, at, bt = l+1, at+aCol, bt+bRow {
					sum += a[at] * b[bt]
				}
			}
			if beta == 0 {
				row[j] = alpha * sum
			} else {
				row[j] = alpha*sum + beta*row[j]
			}
		}
	}
}
