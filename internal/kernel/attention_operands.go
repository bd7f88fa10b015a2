package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// rowsOf describes rows of a matrix: their width and the stride row.
type rowsOf[F Float] struct {
	data       []F
	row, width int
}

func (m *rowsOf[F]) at(i int) []F { return m.data[i*m.row:][:m.width] }

// from returns the rows from the given one on.
func (m *rowsOf[F]) from(i int) rowsOf[F] { return rowsOf[F]{m.data[i*m.row:], m.row, m.width} }

// operandRows holds rows of a head in the form that the products of tiles read: numbers or, in bfloat16, pairs.
type operandRows[F Float] struct {
	rowsOf[F]                // the numbers
	across         rowsOf[F] // pairs of neighbours in a row
	along          rowsOf[F] // pairs of neighbours in a column
	together       int       // number of rows that make one row of along
	mayBeNonFinite bool      // whether a number may be NaN, or infinite after rounding, in along
}

// from returns the rows from the given one on; its number must be even if two rows make a pair.
func (x *operandRows[F]) from(i int) operandRows[F] {
	y := *x
	if x.data != nil {
		y.rowsOf = x.rowsOf.from(i)
	}
	if x.across.data != nil {
		y.across = x.across.from(i)
	}
	if x.along.data != nil {
		y.along = x.along.from(i / x.together)
	}
	return y
}

// asTheyAre returns rows that products can read in place.
func asTheyAre[F Float](x rowsOf[F]) operandRows[F] {
	return operandRows[F]{rowsOf: x, across: x, along: x, together: 1}
}

// wholePairs returns the range [lo,hi) of n rows widened to whole pairs.
func wholePairs(lo, hi, n int) (from, to int) { return lo &^ 1, min((hi+1)&^1, n) }

// forms are the forms of a bfloat16 operand that products read.
type forms struct{ across, along bool }

// pairedLength returns how many elements the pairs of rows take.
func pairedLength(rows, width int, f forms) (n int) {
	if f.across {
		n = rows * simd.PairsOf(width)
	}
	if f.along {
		n += (rows + 1) / 2 * simd.WholePanels(width)
	}
	return n
}

// pairedRoom returns the operand whose pairs are stored in memory.
func pairedRoom[F Float](memory []F, rows, width int, f forms) operandRows[F] {
	x := operandRows[F]{together: 2}
	if f.across {
		x.across = rowsOf[F]{memory, simd.PairsOf(width), (width + 1) / 2}
		memory = memory[rows*x.across.row:]
	}
	if f.along {
		x.along = rowsOf[F]{memory, simd.WholePanels(width), width}
	}
	return x
}

// paired returns n rows as pairs, which it writes to memory.
func (w *attentionTiles[F]) paired(x rowsOf[F], n int, memory []F, f forms) operandRows[F] {
	y := pairedRoom(memory, n, x.width, f)
	y.rowsOf, y.mayBeNonFinite = x, w.pair(n, x, y.across, y.along)
	return y
}

// pair writes pairs of the first n rows of x in the forms for which there is memory, and returns mayBeNonFinite of x.
func (w *attentionTiles[F]) pair(n int, x, across, along rowsOf[F]) (mayBeNonFinite bool) {
	if across.data != nil {
		simd.PairElements(n, x.width, simd.Singles(x.data), x.row, simd.Singles(across.data), across.row)
	}
	if along.data != nil {
		pairUp(x.width, n, simd.Singles(x.data), x.row, simd.Singles(along.data), along.row, simd.PairWidth)
		mayBeNonFinite = !w.finite(&x, n, 2) // whatever rounding makes infinite is infinite when doubled
	}
	return mayBeNonFinite
}

// columns writes n rows as the columns of a matrix that products read: (x.width,n), or pairs of neighbours in a row.
func (r *attentionRun[F]) columns(w *attentionTiles[F], n int, x rowsOf[F], to []F, toRow int) {
	if r.Precision == Full {
		simd.TransposePanel(x.width, n, x.data, x.row, to, toRow)
		return
	}
	ld := simd.PairsOf(x.width)
	pairs := room(&w.pairs, n*ld)
	simd.PairElements(n, x.width, simd.Singles(x.data), x.row, simd.Singles(pairs), ld)
	simd.TransposePanel((x.width+1)/2, n, pairs, ld, to, toRow)
}

// multiply computes C ← α·A·B + β·C for the operands of tiles; k counts numbers, not pairs.
func (r *attentionRun[F]) multiply(m, n, k int, alpha F, a []F, lda int, b []F, ldb int, beta F, c []F, ldc int) {
	if r.Precision == BFloat16 && min(m, n, k) > 0 {
		multiplyPairs(m, n, (k+1)/2, alpha, a, lda, 1, b, ldb, beta, c, ldc)
		return
	}
	g := Product[F]{M: m, N: n, K: k, Alpha: alpha, A: Rows(a, lda), B: Rows(b, ldb), Beta: beta, C: Rows(c, ldc)}
	if n == 1 && k > 0 { // otherwise a sum would have another order than in a tile of several columns
		g.compute()
		return
	}
	g.alone()
}

// multiplyPairs computes C ← α·A·B + β·C of pairs, k of them, on the calling goroutine. It reads B in whole
// vectors.
func multiplyPairs[F Float](m, n, k int, alpha F, a []F, aRow, aCol int, b []F, ldb int, beta F, c []F, ldc int) {
	x, y, z := simd.Singles(a), simd.Singles(b), simd.Singles(c)
	blocks := kBlocks(k)
	for l := range blocks {
		q0, q1 := parallel.Share(l, blocks, k), parallel.Share(l+1, blocks, k)
		for j := 0; j < n; j += simd.PairWidth {
			simd.PairTile(m, min(simd.PairWidth, n-j), q1-q0, float32(alpha), x[q0*aCol:],
				aRow, aCol, simd.PairRowsTall*aRow,
				y[q0*ldb+j:], ldb, float32(beta), z[j:], ldc)
		}
		beta = 1
	}
}
