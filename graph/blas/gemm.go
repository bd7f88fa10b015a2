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
	p := kernel.Product[F]{M: m, N: n, K: k, Alpha: alpha, A: kernel.Rows(a, lda).Op(transposed(tA)),
		B: kernel.Rows(b, ldb).Op(transposed(tB)), Beta: beta, C: kernel.Rows(c, ldc)}
	if m*n*k < least.gemm {
		smallProduct(p, transposed(tB))
	} else {
		p.Compute()
	}
	return true
}

// smallProduct computes a product too small for the kernels. tB says whether B is stored transposed.
func smallProduct[F kernel.Float](p kernel.Product[F], tB bool) {
	a, b, k := p.A, p.B, p.K
	if p.Alpha == 0 { // neither A nor B is read
		k = 0
	}
	for i := range p.M {
		row := p.C.Data[i*p.C.Row:][:p.N]
		switch p.Beta {
		case 0:
			clear(row)
		case 1:
		default:
			for j := range row {
				row[j] *= p.Beta
			}
		}
		at := i * a.Row
		if tB {
			for j := range row {
				var sum F
				for l, v := range b.Data[j*b.Col:][:k] {
					sum += v * a.Data[at+l*a.Col]
				}
				row[j] += p.Alpha * sum
			}
			continue
		}
		for l := range k {
			v := p.Alpha * a.Data[at+l*a.Col]
			for j, w := range b.Data[l*b.Row:][:len(row)] {
				row[j] += v * w
			}
		}
	}
}
