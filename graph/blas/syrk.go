package blas

import (
	"gonum.org/v1/gonum/blas"

	"attention/internal/kernel"
)

// Ssyrk computes C ← α·op(A)·op(A)ᵀ + β·C for one triangle of a symmetric (n,n) matrix C.
// op(A) is (n,k); op transposes or does not. With β = 0, C is not read.
func (i Implementation) Ssyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float32, a []float32, lda int,
	beta float32, c []float32, ldc int) {
	if beta != 0 && n*n*k < least.syrk || !syrk(ul, tA, n, k, alpha, a, lda, a, lda, beta, c, ldc, false) {
		i.Implementation.Ssyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// Dsyrk is Ssyrk of float64.
func (i Implementation) Dsyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int,
	beta float64, c []float64, ldc int) {
	if beta != 0 && n*n*k < least.syrk || !syrk(ul, tA, n, k, alpha, a, lda, a, lda, beta, c, ldc, false) {
		i.Implementation.Dsyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// Ssyr2k computes C ← α·op(A)·op(B)ᵀ + α·op(B)·op(A)ᵀ + β·C for one triangle of a
// symmetric (n,n) matrix C. op(A) and op(B) are (n,k); op transposes or does not. With β = 0, C is not read.
func (i Implementation) Ssyr2k(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float32, a []float32, lda int,
	b []float32, ldb int, beta float32, c []float32, ldc int) {
	if n*n*k < least.syr2k && k > 0 || !syrk(ul, tA, n, k, alpha, a, lda, b, ldb, beta, c, ldc, true) {
		i.Implementation.Ssyr2k(ul, tA, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Dsyr2k is Ssyr2k of float64.
func (i Implementation) Dsyr2k(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int,
	b []float64, ldb int, beta float64, c []float64, ldc int) {
	if n*n*k < least.syr2k && k > 0 || !syrk(ul, tA, n, k, alpha, a, lda, b, ldb, beta, c, ldc, true) {
		i.Implementation.Dsyr2k(ul, tA, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// syrk also adds α·op(B)·op(A)ᵀ if both is true. Otherwise B is A.
func syrk[F kernel.Float](ul blas.Uplo, tA blas.Transpose, n, k int, alpha F, a []F, lda int, b []F, ldb int,
	beta F, c []F, ldc int, both bool) bool {
	fits := storedFits
	if k == 0 {
		fits = emptyFits
	}
	if !isUplo(ul) || !fits(tA, len(a), n, k, lda) || !fits(tA, len(b), n, k, ldb) || !matrixFits(len(c), n, n, ldc) {
		return false
	}
	if alpha == 0 || k == 0 || !both && n*n*k < least.syrk {
		if beta == 0 {
			clearTriangle(ul, n, c, ldc) // gonum may add to 0·C
		}
		return false
	}
	w := borrow[F]()
	r := rankUpdate[F]{
		upper: ul == blas.Upper, both: both, trans: transposed(tA), k: k, alpha: alpha, beta: beta,
		a: a, lda: lda, b: b, ldb: ldb, c: c, ldc: ldc, square: w.room(squareRows * squareRows),
	}
	r.do(0, n)
	w.giveBack()
	return true
}

// emptyFits is storedFits for a matrix of n rows without columns.
func emptyFits(t blas.Transpose, length, n, _, ld int) bool {
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

// rankUpdate adds products of A and B to one triangle of C.
type rankUpdate[F kernel.Float] struct {
	upper, both   bool
	trans         bool
	k             int
	alpha, beta   F
	a, b, c       []F
	lda, ldb, ldc int
	square        []F
}

// do updates the triangle of the rows and columns [i0,i1): two triangles of half the size, and a product for the block
// beside them.
func (r *rankUpdate[F]) do(i0, i1 int) {
	if i1-i0 <= squareRows {
		r.diagonal(i0, i1-i0)
		return
	}
	mid := halved(i0, i1, squareRows)
	r.do(i0, mid)
	r.do(mid, i1)
	if r.upper {
		r.product(i0, mid-i0, mid, i1-mid)
	} else {
		r.product(mid, i1-mid, i0, mid-i0)
	}
}

// product updates m rows and n columns of C, from row i and column j on.
func (r *rankUpdate[F]) product(i, m, j, n int) {
	c := r.c[i*r.ldc+j:]
	p := kernel.Product[F]{M: m, N: n, K: r.k, Alpha: r.alpha, A: r.rowsOfA(i), B: r.rowsOfB(j).T(), Beta: r.beta,
		C: kernel.Rows(c, r.ldc)}
	p.Compute()
	if r.both {
		p.A, p.B, p.Beta = r.rowsOfB(i), r.rowsOfA(j).T(), 1
		p.Compute()
	}
}

// diagonal updates the triangle of n rows from row i on.
func (r *rankUpdate[F]) diagonal(i, n int) {
	p := r.square
	kernel.Product[F]{M: n, N: n, K: r.k, Alpha: r.alpha, A: r.rowsOfA(i), B: r.rowsOfB(i).T(),
		C: kernel.Rows(p, squareRows)}.Compute()
	for row := range n {
		lo, hi := 0, row+1
		if r.upper {
			lo, hi = row, n
		}
		sums, c := p[row*squareRows:][lo:hi], r.c[(i+row)*r.ldc+i:][lo:hi]
		if r.both {
			for j := range sums {
				c[j] = sums[j] + p[(lo+j)*squareRows+row] + r.kept(c[j])
			}
			continue
		}
		if r.beta == 0 {
			copy(c, sums)
			continue
		}
		for j, s := range sums {
			c[j] = s + r.beta*c[j]
		}
	}
}

// kept returns β·c, or 0 if β is 0.
func (r *rankUpdate[F]) kept(c F) F {
	if r.beta == 0 {
		return 0
	}
	return r.beta * c
}

func (r *rankUpdate[F]) rowsOfA(i int) kernel.Matrix[F] { return rowsFrom(r.trans, r.a, r.lda, i) }
func (r *rankUpdate[F]) rowsOfB(i int) kernel.Matrix[F] { return rowsFrom(r.trans, r.b, r.ldb, i) }

// rowsFrom returns op(A) from row i.
func rowsFrom[F kernel.Float](trans bool, a []F, ld, i int) kernel.Matrix[F] {
	x := kernel.Rows(a, ld).Op(trans)
	x.Data = a[i*x.Row:]
	return x
}

// rowOf returns the range [lo,hi) of the columns of row i in a triangle.
func rowOf(ul blas.Uplo, i, n int) (lo, hi int) {
	if ul == blas.Upper {
		return i, n
	}
	return 0, i + 1
}
