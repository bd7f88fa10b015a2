package blas

import (
	"gonum.org/v1/gonum/blas"

	"attention/internal/kernel"
)

// triangle is a triangular matrix A, and the op that transposes it or does not. If it is unit, its diagonal is not read
// and stands for ones.
type triangle[F kernel.Float] struct {
	upper, unit bool // as stored
	trans       kernel.Transpose
	a           []F
	lda         int
}

// triangleOf returns the (n,n) triangle of a call, and false if its arguments do not fit.
func triangleOf[F kernel.Float](ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int,
	a []F, lda int) (t triangle[F], fits bool) {
	t = triangle[F]{upper: ul == blas.Upper, unit: d == blas.Unit, trans: transposed(tA), a: a, lda: lda}
	return t, isUplo(ul) && isTranspose(tA) && isDiag(d) && matrixFits(len(a), n, n, lda)
}

// lower reports whether op(A) is lower triangular.
func (t *triangle[F]) lower() bool { return t.upper == bool(t.trans) }

// block returns what is stored of op(A) from row i and column j on.
func (t *triangle[F]) block(i, j int) []F {
	if t.trans {
		i, j = j, i
	}
	return t.a[i*t.lda+j:]
}

// from returns the triangle that begins at row and column i.
func (t *triangle[F]) from(i int) triangle[F] {
	part := *t
	part.a = t.block(i, i)
	return part
}

// beside returns the columns [lo,hi) of stored row i that lie in the rows and columns [i0,i1), without the diagonal.
func (t *triangle[F]) beside(i, i0, i1 int) (lo, hi int) {
	if t.upper {
		return i + 1, i1
	}
	return i0, i
}
