package kernel

import (
	"math"
	"unsafe"
)

// GemmStored computes Y ← α·X·op(W) for row-major matrices, where X is (m,k), op(W) is (k,n), Y is (m,n) and W is
// stored as bfloat16, the upper halves of float32s. It is widened where it is copied or multiplied; the bits of Y are
// those of GemmOf with all of W widened first. One row waits for the memory in which W lies: in BFloat16, X is rounded
// for it, and the product is that of Full.
func GemmStored(p Precision, trans Transpose, m, n, k int, alpha float32, x []float32, w []uint16,
	y []float32) {
	if min(m, n, k) < 1 {
		panic("kernel: gemm: got a product without elements")
	}
	ld := n
	if trans {
		ld = k
	}
	checkProduct(1, NoTrans, trans, m, n, k, len(x), k, 0, len(w), ld, 0, len(y), n, 0)
	b := view[float32](trans, nil, ld)
	b.stored = w
	switch {
	case p == BFloat16 && m == 1:
		rounded := borrow[float32](k)
		defer giveBack(rounded)
		roundElements(x[:k], *rounded)
		x = *rounded
	case p == BFloat16:
		pairProduct{
			batch: 1, m: m, n: n, k: k, alpha: alpha, c: y, ldc: n,
			a: pairMatrix{from: view(NoTrans, x, k), count: 1}, b: pairMatrix{from: b, count: 1},
		}.compute()
		return
	}
	g := product[float32]{m: m, n: n, k: k, alpha: alpha, a: view(NoTrans, x, k), b: b, c: view(NoTrans, y, n)}
	g.prepare()
	if g.a.stored == nil || !readsEvenFirst[float32](chosenPath, k) {
		runBatch(chosenPath, 1, &g, 0, 0, 0)
		return
	}
	room := borrow[float32](k)
	evenFirst(chosenPath, *room, g.b.data)
	g.b.data = *room
	runBatch(chosenPath, 1, &g, 0, 0, 0)
	giveBack(room)
}

// readsEvenFirst reports whether rows of k stored numbers are multiplied with an x as evenFirst leaves it.
func readsEvenFirst[F Float](p path, k int) bool {
	_, lanes := tileShape[F](p)
	return k%(2*lanes) == 0
}

// evenFirst sets y to x, in steps of two vectors of which the even elements come first.
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
	split(widenCall{y, x}, len(y), grainFast)
}

type widenCall struct {
	y []float32
	x []uint16
}

func (c widenCall) do(lo, hi int) { widen(chosenPath, c.y[lo:hi], c.x[lo:hi]) }

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
func widenRows[F Float](p path, dst []F, b matrix[F], rows, n int) matrix[F] {
	widenTo(p, rows, n, dst, n, b.stored, b.row)
	return matrix[F]{data: dst, row: n, col: 1}
}

// foresee asks for k rows of n columns of a stored matrix.
func (x matrix[F]) foresee(p path, k, n int) {
	if x.col != 1 {
		x, k, n = x.transposed(), n, k
	}
	per := sizeOf[F]() / 2
	words := unsafe.Slice((*F)(unsafe.Pointer(unsafe.SliceData(x.stored))), len(x.stored)/per)
	foresee(p, k, n/per, words, x.row/per)
}

// widenPanel widens k rows of n columns of B, in the order in which they are stored.
func widenPanel[F Float](p path, w *workspace[F], b matrix[F], k, n int) matrix[F] {
	if b.col == 1 {
		return widenRows(p, room(&w.wide, k*n), b, k, n)
	}
	b = b.transposed()
	wide := widenRows(p, room(&w.wide, n*k), b, n, k)
	return wide.transposed()
}

// storedRows is how many rows of a stored matrix are widened at a time to be paired.
const storedRows = 16

// packStored is packPanels of a stored matrix: the k numbers from pair q0 on of each column. Where they lie together
// two of them are a pair as they are.
func (g *pairProduct) packStored(p0, p1, q0, k int, to []float32, panel int, rows []float32) {
	from, column := g.b.from.from(2*q0, p0*pairWidth), p0*pairWidth
	if from.col == 1 {
		n := min(p1*pairWidth, g.n) - column
		from.foresee(chosenPath, k, n)
		room := borrow[float32](storedRows * n)
		for q := 0; q < k; q += storedRows {
			count := min(storedRows, k-q)
			wide := widenRows(chosenPath, *room, from.from(q, 0), count, n)
			pairUp(n, count, wide.data, n, to[q/2*pairWidth:], pairWidth, panel)
		}
		giveBack(room)
		return
	}
	ld := pairsOf(k)
	for p := p0; p < p1; p++ {
		n, part := min(pairWidth, g.n-p*pairWidth), from.from(0, p*pairWidth-column)
		dst := to[(p-p0)*panel:]
		if pairs := pairsIn(part, k); pairs != nil {
			transposePanel(chosenPath, k/2, n, pairs, part.col/2, dst, pairWidth)
			continue
		}
		room := borrow[float32](k)
		for j := range n {
			widen(chosenPath, *room, part.stored[j*part.col:])
			pairElements(1, k, *room, 0, rows[j*ld:], ld)
		}
		giveBack(room)
		transposePanel(chosenPath, (k+1)/2, n, rows, ld, dst, pairWidth)
	}
}

// pairsIn returns the columns of a stored matrix as pairs, or nil where a pair does not begin at a whole word.
func pairsIn(b matrix[float32], k int) []float32 {
	at := unsafe.Pointer(unsafe.SliceData(b.stored))
	if k%2 != 0 || b.col%2 != 0 || uintptr(at)%4 != 0 {
		return nil
	}
	return unsafe.Slice((*float32)(at), len(b.stored)/2)
}
