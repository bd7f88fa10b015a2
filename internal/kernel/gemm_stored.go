package kernel

import (
	"unsafe"

	"attention/internal/parallel"
	"attention/internal/simd"
)

// computeStoredRow computes product i of a batch of one row and a stored B.
func (g *Product[F]) computeStoredRow(i int) {
	one := g.part(i, 0, 1, 0, g.N)
	one.Batch = 1
	room := borrow[F](2 * g.K)
	x, first := (*room)[:g.K], (*room)[g.K:]
	for q := range x {
		x[q] = one.A.Data[q*one.A.Col]
	}
	if g.Precision == BFloat16 {
		simd.RoundElements(simd.Singles(x), simd.Singles(x))
	}
	one.A = Rows(x, g.K)
	one.prepare()
	if one.A.Stored != nil && simd.ReadsEvenFirst[F](g.K) {
		simd.EvenFirst(first, x)
		one.B.Data = first
	}
	one.share()
	giveBack(room)
}

// Widen sets y to the numbers of x, which are stored as bfloat16.
func Widen(y []float32, x []uint16) {
	fit("widen", len(y), len(x))
	parallel.Do(widenCall{y, x}, len(y), grainFast)
}

type widenCall struct {
	y []float32
	x []uint16
}

func (c widenCall) Do(lo, hi int) { simd.Widen(c.y[lo:hi], c.x[lo:hi]) }

// dotsStored is dot of stored rows.
func dotsStored[F Float](w *workspace[F], a Matrix[F], x, y []F) {
	switch {
	case a.Blocks != nil:
		a.Blocks.dots(a.first, a.Row, simd.Singles(x), simd.Singles(y))
		return
	case simd.ReadsEvenFirst[F](len(x)):
		simd.DotStored(a.Stored, a.Row, x, y)
		return
	}
	row := room(&w.wide, len(x))
	for i := range y {
		simd.Dot(widenRows(row, a.from(i, 0), 1, len(x)).Data[:len(x)], 0, x, y[i:i+1])
	}
}

// widenRows widens n elements of each of some rows.
func widenRows[F Float](dst []F, b Matrix[F], rows, n int) Matrix[F] {
	if b.Blocks != nil {
		b.Blocks.rows(simd.Singles(dst), b.first, rows, n, b.Row)
	} else {
		simd.WidenTo(rows, n, dst, n, b.Stored, b.Row)
	}
	return Matrix[F]{Data: dst, Row: n, Col: 1}
}

// prefetch prefetches k rows of n columns of a stored matrix.
func (x Matrix[F]) prefetch(k, n int) {
	if x.Stored == nil {
		return // decoding takes longer than reading
	}
	if x.Col != 1 {
		x, k, n = x.T(), n, k
	}
	per := simd.SizeOf[F]() / 2
	words := unsafe.Slice((*F)(unsafe.Pointer(unsafe.SliceData(x.Stored))), len(x.Stored)/per)
	simd.Prefetch(k, n/per, words, x.Row/per)
}

// widenColumns widens k numbers of each of n columns of B, in which they are contiguous.
func widenColumns[F Float](w *workspace[F], b Matrix[F], k, n int) Matrix[F] {
	wide := widenRows(room(&w.wide, n*k), b.T(), n, k)
	return wide.T()
}

// storedRows is how many rows of a stored matrix are widened at a time to be paired.
const storedRows = 16

// packStored is packPanels of a stored matrix: k numbers of each column, beginning with pair q0. Where they are
// contiguous, two neighbours are a pair already.
func (g *pairProduct) packStored(i, p0, p1, q0, k int, to []float32, panel int, rows []float32) {
	column := p0 * simd.PairWidth
	from := g.B.at(i*g.B.Step + 2*q0*g.B.Row + column*g.B.Col)
	if from.Col == 1 {
		n := min(p1*simd.PairWidth, g.N) - column
		from.prefetch(k, n)
		room := borrow[float32](storedRows * n)
		for q := 0; q < k; q += storedRows {
			count := min(storedRows, k-q)
			wide := widenRows(*room, from.from(q, 0), count, n)
			pairUp(n, count, wide.Data, n, to[q/2*simd.PairWidth:], simd.PairWidth, panel)
		}
		giveBack(room)
		return
	}
	ld := simd.PairsOf(k)
	for p := p0; p < p1; p++ {
		n, part := min(simd.PairWidth, g.N-p*simd.PairWidth), from.from(0, p*simd.PairWidth-column)
		dst := to[(p-p0)*panel:]
		if pairs := pairsIn(part, k); pairs != nil {
			simd.TransposePanel(k/2, n, pairs, part.Col/2, dst, simd.PairWidth)
			continue
		}
		room := borrow[float32](k)
		for j := range n {
			widenRows(*room, part.from(0, j), 1, k)
			simd.PairElements(1, k, *room, 0, rows[j*ld:], ld)
		}
		giveBack(room)
		simd.TransposePanel((k+1)/2, n, rows, ld, dst, simd.PairWidth)
	}
}

// pairsIn returns the columns of a stored matrix as pairs, or nil where a pair does not begin at a whole word.
func pairsIn(b Matrix[float32], k int) []float32 {
	at := unsafe.Pointer(unsafe.SliceData(b.Stored))
	if b.Stored == nil || k%2 != 0 || b.Col%2 != 0 || uintptr(at)%4 != 0 {
		return nil
	}
	return unsafe.Slice((*float32)(at), len(b.Stored)/2)
}
