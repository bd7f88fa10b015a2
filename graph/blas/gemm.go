package blas

import (
	"gonum.org/v1/gonum/blas"

	"attention/internal/kernel"
)

// Sgemm computes C ← α·op(A)·op(B) + β·C, where op(A) is (m,k), op(B) is (k,n) and op transposes or does not. With
// β = 0, C is not read.
func (i Implementation) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int,
	b []float32, ldb int, beta float32, c []float32, ldc int) {
	if m*n*k < least.gemmNT && tA == blas.NoTrans && tB != blas.NoTrans ||
		!gemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		i.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Dgemm is Sgemm of float64.
func (i Implementation) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int,
	b []float64, ldb int, beta float64, c []float64, ldc int) {
	if m*n*k < least.gemmNT && tA == blas.NoTrans && tB != blas.NoTrans ||
		!gemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		i.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

func gemm[F kernel.Float](tA, tB blas.Transpose, m, n, k int, alpha F, a []F, lda int, b []F, ldb int,
	beta F, c []F, ldc int) bool {
	if !storedFits(tA, len(a), m, k, lda) || !storedFits(tB, len(b), k, n, ldb) || !matrixFits(len(c), m, n, ldc) {
		return false
	}
	if m*n*k < least.gemm {
		smallProduct(transposed(tA), transposed(tB), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	} else {
		kernel.Gemm(transposed(tA), transposed(tB), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
	return true
}

// smallProduct is gemm, done before the kernels have begun.
func smallProduct[F kernel.Float](tA, tB kernel.Transpose, m, n, k int, alpha F, a []F, lda int, b []F, ldb int,
	beta F, c []F, ldc int) {
	aRow, aCol := lda, 1
	if tA {
		aRow, aCol = aCol, aRow
	}
	if alpha == 0 { // neither A nor B is read
		k = 0
	}
	for i := range m {
		row := c[i*ldc:][:n]
		switch beta {
		case 0:
			clear(row)
		case 1:
		default:
			for j := range row {
				row[j] *= beta
			}
		}
		at := i * aRow
		if tB {
			for j := range row {
				var sum F
				for l, v := range b[j*ldb:][:k] {
					sum += v * a[at+l*aCol]
				}
				row[j] += alpha * sum
			}
			continue
		}
		for l := range k {
			v := alpha * a[at+l*aCol]
			for j, w := range b[l*ldb:][:len(row)] {
				row[j] += v * w
			}
		}
	}
}
