package kernel

import (
	"math"
	"unsafe"

	"attention/internal/parallel"
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
		roundElements(singles(x), singles(x))
	}
	one.A = Rows(x, g.K)
	one.prepare()
	if one.A.Stored != nil && readsEvenFirst[F](chosenPath, g.K) {
		evenFirst(chosenPath, first, x)
		one.B.Data = first
	}
	one.share(chosenPath)
	giveBack(room)
}

// readsEvenFirst reports whether the dot kernel for rows of k bfloat16 numbers wants x as evenFirst writes it.
func readsEvenFirst[F Float](p path, k int) bool {
	_, lanes := tileShape[F](p)
	return k%(2*lanes) == 0
}

// evenFirst copies x to y, and moves the even elements of every two vectors before the odd ones.
func evenFirst[F Float](p path, y, x []F) {
	_, lanes := tileShape[F](p)
	for ; len(x) > 0; x, y = x[2*lanes:], y[2*lanes:] {
		even, odd, from := y[:lanes], y[lanes:2*lanes], x[:2*lanes]
		for i := range even {
			even[i], odd[i] = from[2*i], from[2*i+1]
		}
	}
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

func (c widenCall) Do(lo, hi int) { widen(chosenPath, c.y[lo:hi], c.x[lo:hi]) }

// widen sets y to as many numbers of x.
func widen[F Float](p path, y []F, x []uint16) { widenTo(p, 1, len(y), y, 0, x, 0) }

// widenTo widens n numbers of each of k rows.
func widenTo[F Float](p path, k, n int, y []F, yRow int, x []uint16, xRow int) {
	_, lanes := tileShape[F](p)
	whole := n / lanes * lanes
	widenVectors(p, k, whole, y, yRow, x, xRow)
	if whole < n {
		widenVectorsGo(k, n-whole, y[whole:], yRow, x[whole:], xRow)
	}
}

func widenVectorsGo[F Float](k, n int, y []F, yRow int, x []uint16, xRow int) {
	for i := range k {
		to := y[i*yRow:][:n]
		for j, v := range x[i*xRow:][:n] {
			to[j] = widened[F](v)
		}
	}
}

func widened[F Float](x uint16) F { return F(math.Float32frombits(uint32(x) << 16)) }

// dotStoredGo adds in the order of dotGo.
func dotStoredGo[F Float](a []uint16, aRow int, x, y []F) {
	for i := range y {
		row := a[i*aRow:][:len(x)]
		var s0, s1, s2, s3 F
		for q := 0; q+goColumns <= len(x); q += goColumns {
			r, v := row[q:][:goColumns], x[q:][:goColumns]
			s0 += widened[F](r[0]) * v[0]
			s1 += widened[F](r[1]) * v[2]
			s2 += widened[F](r[2]) * v[1]
			s3 += widened[F](r[3]) * v[3]
		}
		y[i] = (s0 + s1) + (s2 + s3)
	}
}

func weighStoredGo[F Float](alpha F, a []uint16, aRow int, x, y []F) {
	for i, v := range x {
		w := alpha * v
		row := a[i*aRow:][:len(y)]
		for j, v := range row {
			y[j] += w * widened[F](v)
		}
	}
}

// dotsStored is dot of stored rows.
func dotsStored[F Float](p path, w *workspace[F], a []uint16, aRow int, x, y []F) {
	if readsEvenFirst[F](p, len(x)) {
		dotStored(p, a, aRow, x, y)
		return
	}
	row := room(&w.wide, len(x))
	for i := range y {
		widen(p, row, a[i*aRow:])
		dot(p, row, 0, x, y[i:i+1])
	}
}

// widenRows widens n elements of each of some rows.
func widenRows[F Float](p path, dst []F, b Matrix[F], rows, n int) Matrix[F] {
	widenTo(p, rows, n, dst, n, b.Stored, b.Row)
	return Matrix[F]{Data: dst, Row: n, Col: 1}
}

// prefetch prefetches k rows of n columns of a stored matrix.
func (x Matrix[F]) prefetch(p path, k, n int) {
	if x.Col != 1 {
		x, k, n = x.T(), n, k
	}
	per := sizeOf[F]() / 2
	words := unsafe.Slice((*F)(unsafe.Pointer(unsafe.SliceData(x.Stored))), len(x.Stored)/per)
	prefetch(p, k, n/per, words, x.Row/per)
}

// widenPanel widens k rows of n columns of B, in the order in which they are stored.
func widenPanel[F Float](p path, w *workspace[F], b Matrix[F], k, n int) Matrix[F] {
	if b.Col == 1 {
		return widenRows(p, room(&w.wide, k*n), b, k, n)
	}
	b = b.T()
	wide := widenRows(p, room(&w.wide, n*k), b, n, k)
	return wide.T()
}

// storedRows is how many rows of a stored matrix are widened at a time to be paired.
const storedRows = 16

// packStored is packPanels of a stored matrix: k numbers of each column, beginning with pair q0. Where they are
// contiguous, two neighbours are a pair already.
func (g *pairProduct) packStored(i, p0, p1, q0, k int, to []float32, panel int, rows []float32) {
	column := p0 * pairWidth
	from := g.B.at(i*g.B.Step + 2*q0*g.B.Row + column*g.B.Col)
	if from.Col == 1 {
		n := min(p1*pairWidth, g.N) - column
		from.prefetch(chosenPath, k, n)
		room := borrow[float32](storedRows * n)
		for q := 0; q < k; q += storedRows {
			count := min(storedRows, k-q)
			wide := widenRows(chosenPath, *room, from.from(q, 0), count, n)
			pairUp(n, count, wide.Data, n, to[q/2*pairWidth:], pairWidth, panel)
		}
		giveBack(room)
		return
	}
	ld := pairsOf(k)
	for p := p0; p < p1; p++ {
		n, part := min(pairWidth, g.N-p*pairWidth), from.from(0, p*pairWidth-column)
		dst := to[(p-p0)*panel:]
		if pairs := pairsIn(part, k); pairs != nil {
			transposePanel(chosenPath, k/2, n, pairs, part.Col/2, dst, pairWidth)
			continue
		}
		room := borrow[float32](k)
		for j := range n {
			widen(chosenPath, *room, part.Stored[j*part.Col:])
			pairElements(1, k, *room, 0, rows[j*ld:], ld)
		}
		giveBack(room)
		transposePanel(chosenPath, (k+1)/2, n, rows, ld, dst, pairWidth)
	}
}

// pairsIn returns the columns of a stored matrix as pairs, or nil where a pair does not begin at a whole word.
func pairsIn(b Matrix[float32], k int) []float32 {
	at := unsafe.Pointer(unsafe.SliceData(b.Stored))
	if k%2 != 0 || b.Col%2 != 0 || uintptr(at)%4 != 0 {
		return nil
	}
	return unsafe.Slice((*float32)(at), len(b.Stored)/2)
}
