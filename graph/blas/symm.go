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

func symm[F kernel.Float](s blas.Side, ul blas.Uplo, m, n int, alpha F, a []F, lda int, b []F, ldb int,
	beta F, c []F, ldc int) bool {
	size := size(s, m, n)
	if alpha == 0 || !isSide(s) || !isUplo(ul) || !matrixFits(len(a), size, size, lda) ||
		!matrixFits(len(b), m, n, ldb) || !matrixFits(len(c), m, n, ldc) {
		return false
	}
	w := borrow[F]()
	p := symmetricProduct[F]{right: s == blas.Right, upper: ul == blas.Upper, alpha: alpha, a: a, lda: lda,
		square: w.room(squareRows * squareRows)}
	p.do(0, size, panel[F]{m, n, b, ldb}, panel[F]{m, n, c, ldc}, beta)
	w.giveBack()
	return true
}

// symmetricProduct is C = α·A·B + β·C, or α·B·A + β·C, with a symmetric A.
type symmetricProduct[F kernel.Float] struct {
	right, upper bool
	alpha        F
	a            []F
	lda          int
	square       []F
}

// do multiplies the rows and columns [i0,i1) of A by their part b of B. It halves A into two squares on the diagonal
// and one stored rectangle; the rectangle is multiplied twice, as stored and transposed.
func (p *symmetricProduct[F]) do(i0, i1 int, b, c panel[F], beta F) {
	if i1-i0 <= squareRows {
		p.diagonal(i0, i1-i0)
		p.add(false, p.square, squareRows, b, c, beta)
		return
	}
	mid := halved(i0, i1, squareRows)
	b1, b2 := b.cut(p.right, mid-i0)
	c1, c2 := c.cut(p.right, mid-i0)
	p.do(i0, mid, b1, c1, beta)
	p.do(mid, i1, b2, c2, beta)
	if p.upper { // stored is the rectangle of the first rows and the second columns
		p.add(false, p.a[i0*p.lda+mid:], p.lda, b2, c1, 1)
		p.add(true, p.a[i0*p.lda+mid:], p.lda, b1, c2, 1)
	} else {
		p.add(true, p.a[mid*p.lda+i0:], p.lda, b2, c1, 1)
		p.add(false, p.a[mid*p.lda+i0:], p.lda, b1, c2, 1)
	}
}

// add sets c ← α·op(a)·b + β·c, or on the right α·b·op(a)ᵀ + β·c.
func (p *symmetricProduct[F]) add(trans bool, a []F, lda int, b, c panel[F], beta F) {
	g := kernel.Product[F]{M: c.m, N: c.n, K: b.m, Alpha: p.alpha, A: kernel.Rows(a, lda).Op(trans), B: b.matrix(),
		Beta: beta, C: c.matrix()}
	if p.right {
		g.K, g.A, g.B = b.n, g.B, g.A.T()
	}
	g.Compute()
}

// diagonal writes the rows and columns i0 to i0+n−1 of A, both triangles, to the square.
func (p *symmetricProduct[F]) diagonal(i0, n int) {
	for i := range n {
		for j := range i + 1 {
			row, col := i, j
			if p.upper {
				row, col = j, i
			}
			v := p.a[(i0+row)*p.lda+i0+col]
			p.square[i*squareRows+j], p.square[j*squareRows+i] = v, v
		}
	}
}
