package blas

import (
	"gonum.org/v1/gonum/blas"

	"attention/internal/kernel"
)

// Ssyrk computes C ← α·op(A)·op(A)ᵀ + β·C for a symmetric (n,n) matrix C, of which one triangle is read and written.
// op(A) is (n,k); op transposes or does not. With β = 0, C is not read.
func (i Implementation) Ssyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float32, a []float32, lda int,
	beta float32, c []float32, ldc int) {
	if !syrk(ul, tA, n, k, alpha, a, lda, a, lda, beta, c, ldc, false) {
		i.Implementation.Ssyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// Dsyrk is Ssyrk of float64.
func (i Implementation) Dsyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int,
	beta float64, c []float64, ldc int) {
	if !syrk(ul, tA, n, k, alpha, a, lda, a, lda, beta, c, ldc, false) {
		i.Implementation.Dsyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// Ssyr2k computes C ← α·op(A)·op(B)ᵀ + α·op(B)·op(A)ᵀ + β·C for a symmetric (n,n) matrix C, of which one triangle is
// read and written. op(A) and op(B) are (n,k); op transposes or does not. With β = 0, C is not read.
func (i Implementation) Ssyr2k(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float32, a []float32, lda int,
	b []float32, ldb int, beta float32, c []float32, ldc int) {
	if !syrk(ul, tA, n, k, alpha, a, lda, b, ldb, beta, c, ldc, true) {
		i.Implementation.Ssyr2k(ul, tA, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Dsyr2k is Ssyr2k of float64.
func (i Implementation) Dsyr2k(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int,
	b []float64, ldb int, beta float64, c []float64, ldc int) {
	if !syrk(ul, tA, n, k, alpha, a, lda, b, ldb, beta, c, ldc, true) {
		i.Implementation.Dsyr2k(ul, tA, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// syrk adds α·op(B)·op(A)ᵀ too if it is asked for both. Otherwise B is A.
func syrk[F kernel.Float](ul blas.Uplo, tA blas.Transpose, n, k int, alpha F, a []F, lda int, b []F, ldb int,
	beta F, c []F, ldc int, both bool) bool {
	if k == 0 && beta == 0 && isUplo(ul) && emptyFits(tA, len(a), n, lda) && emptyFits(tA, len(b), n, ldb) &&
		matrixFits(len(c), n, n, ldc) {
		clearTriangle(ul, n, c, ldc) // gonum adds to 0·C
		return false
	}
	if !isUplo(ul) || !storedFits(tA, len(a), n, k, lda) || !storedFits(tA, len(b), n, k, ldb) ||
		!matrixFits(len(c), n, n, ldc) {
		return false
	}
	if alpha == 0 || n*n*k < least.product {
		if beta == 0 {
			clearTriangle(ul, n, c, ldc)
		}
		return false
	}
	w := borrow[F]()
	r := rankUpdate[F]{
		upper: ul == blas.Upper, both: both, trans: transposed(tA), k: k, alpha: alpha, beta: beta,
		a: a, lda: lda, b: b, ldb: ldb, c: c, ldc: ldc, block: room(&w.block, squareRows*squareRows),
	}
	r.do(0, n)
	w.giveBack()
	return true
}

// emptyFits is storedFits for a matrix of n rows without columns.
func emptyFits(t blas.Transpose, length, n, ld int) bool {
	if t != blas.NoTrans {
		return isTranspose(t) && ld >= n
	}
	return ld > 0 && n-1 <= length/ld
}

// clearTriangle sets a triangle to 0.
func clearTriangle[F kernel.Float](ul blas.Uplo, n int, c []F, ldc int) {
	for i := range n {
		lo, hi := rowOf(ul, i, n)
		clear(c[i*ldc+lo : i*ldc+hi])
	}
}

// squareRows is how many rows on the diagonal are computed as a square, of which a triangle is used.
const squareRows = 64

// rankUpdate adds products of A and B to one triangle of C.
type rankUpdate[F kernel.Float] struct {
	upper, both   bool
	trans         kernel.Transpose
	k             int
	alpha, beta   F
	a, b, c       []F
	lda, ldb, ldc int
	block         []F
}

// do does the triangle of the rows and columns [i0,i1). Beside two triangles of half the size is a product.
func (r *rankUpdate[F]) do(i0, i1 int) {
	if i1-i0 <= squareRows {
		r.diagonal(i0, i1-i0)
		return
	}
	mid := i0 + ((i1-i0)/2+squareRows-1)/squareRows*squareRows
	r.do(i0, mid)
	r.do(mid, i1)
	if r.upper {
		r.product(i0, mid-i0, mid, i1-mid)
	} else {
		r.product(mid, i1-mid, i0, mid-i0)
	}
}

// product does m rows and n columns of C, from row i and column j on.
func (r *rankUpdate[F]) product(i, m, j, n int) {
	c := r.c[i*r.ldc+j:]
	kernel.Gemm(r.trans, !r.trans, m, n, r.k, r.alpha, r.rowsOfA(i), r.lda, r.rowsOfB(j), r.ldb, r.beta, c, r.ldc)
	if r.both {
		kernel.Gemm(r.trans, !r.trans, m, n, r.k, r.alpha, r.rowsOfB(i), r.ldb, r.rowsOfA(j), r.lda, 1, c, r.ldc)
	}
}

// diagonal does the triangle of n rows from i on.
func (r *rankUpdate[F]) diagonal(i, n int) {
	p := r.block
	kernel.Gemm(r.trans, !r.trans, n, n, r.k, r.alpha, r.rowsOfA(i), r.lda, r.rowsOfB(i), r.ldb, 0, p, squareRows)
	for row := range n {
		lo, hi := 0, row+1
		if r.upper {
			lo, hi = row, n
		}
		c := r.c[(i+row)*r.ldc+i:]
		for col := lo; col < hi; col++ {
			sum := p[row*squareRows+col]
			if r.both {
				sum += p[col*squareRows+row]
			}
			if r.beta != 0 {
				sum += r.beta * c[col]
			}
			c[col] = sum
		}
	}
}

func (r *rankUpdate[F]) rowsOfA(i int) []F { return rowsFrom(r.trans, r.a, r.lda, i) }
func (r *rankUpdate[F]) rowsOfB(i int) []F { return rowsFrom(r.trans, r.b, r.ldb, i) }

// rowsFrom returns what is stored of op(A) from row i on.
func rowsFrom[F kernel.Float](trans kernel.Transpose, a []F, ld, i int) []F {
	if trans {
		return a[i:]
	}
	return a[i*ld:]
}
