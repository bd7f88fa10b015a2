package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// computePairs computes a product in BFloat16.
func (g *Product[F]) computePairs() {
	p := pairProduct{Product: g.single()}
	p.a.count, p.b.count = distinct(p.Batch, p.A.Step), distinct(p.Batch, p.B.Step)
	p.compute()
}

// single returns a float32 product with its type.
func (g *Product[F]) single() Product[float32] {
	single := func(x Matrix[F]) Matrix[float32] {
		return Matrix[float32]{Data: simd.Singles(x.Data), Row: x.Row, Col: x.Col, Step: x.Step, Stored: x.Stored,
			Blocks: x.Blocks, first: x.first}
	}
	return Product[float32]{M: g.M, N: g.N, K: g.K, Alpha: float32(g.Alpha), A: single(g.A), B: single(g.B),
		Beta: float32(g.Beta), C: single(g.C), Batch: g.Batch}
}

// compute does the products.
func (g pairProduct) compute() {
	g.layOut()
	g.across = min(g.panels, max(1, 4*parallel.Cores()/(g.Batch*g.down)))
	g.borrow()
	parallel.Do(packPairsA{g}, g.a.count*g.chunks, 1+grainFast/(packedRows*g.K))
	if !g.once {
		parallel.Do(packPairsB{g}, g.b.count*g.panels, 1+grainFast/(simd.PairWidth*g.K))
	}
	rows := g.M
	if g.once {
		rows += packedAs
	}
	tasks := g.Batch * g.down * g.across
	each := float64(g.Batch) * float64(rows) * float64(g.N) * float64(g.K) / float64(tasks)
	parallel.Do(g, tasks, 1+int(float64(leastPairs)/each))
	g.giveBack()
}

const (
	packedRows  = 32      // rows of A that are copied at a time
	packedPairs = 8       // pairs of its columns
	leastPairs  = 1 << 19 // multiply-adds below which another goroutine costs more than it saves
	packedAs    = 16      // multiply-adds that take as long as copying an element
	panelsOnce  = 4       // of B that are copied together: more of a row lies together than of a panel's part of it
)

// distinct returns how many matrices of a batch differ.
func distinct(batch, stride int) int {
	if stride == 0 {
		return 1
	}
	return batch
}

// pairMatrix describes the copies of A or B as pairs.
type pairMatrix struct {
	count   int // of matrices that differ
	room    *[]float32
	each    int  // elements of the copy of a matrix
	columns bool // the copy of A holds its columns, because these are contiguous in A
	ld      int  // from one row, or column, of the copy to the next
}

// matrix returns the copy of a matrix of the batch.
func (p *pairMatrix) matrix(i int) []float32 {
	if p.count == 1 {
		i = 0
	}
	return (*p.room)[i*p.each:][:p.each]
}

// pairProduct is a batch of products, cut into blocks of C.
type pairProduct struct {
	Product[float32]
	a, b          pairMatrix
	pairs, panels int  // along K, and of B
	down, across  int  // blocks of each product
	chunks        int  // of A, which are copied at a time
	once          bool // each panel of B is read for one block: it is copied there
}

// layOut chooses the layout of the copies. B's copies are panels of columns; A's keep the order of A. Rows that compete
// for the same sets of the cache get other distances.
func (g *pairProduct) layOut() {
	g.pairs, g.panels = (g.K+1)/2, (g.N+simd.PairWidth-1)/simd.PairWidth
	g.down = (g.M + blockRows - 1) / blockRows
	g.b.ld = g.pairs * simd.PairWidth
	if g.once = g.down == 1 && g.b.count == g.Batch; !g.once {
		g.b.each = g.panels * g.b.ld
	}
	g.a.columns = g.A.Row == 1 && g.A.Col != 1
	rows, width := g.M, simd.PairsOf(g.K)
	g.chunks = (g.M + packedRows - 1) / packedRows
	if g.a.columns {
		rows, width = g.pairs, (g.M+simd.PairWidth-1)/simd.PairWidth*simd.PairWidth
		g.chunks = (g.pairs + packedPairs - 1) / packedPairs
	}
	if width%256 == 0 {
		width += vector
	}
	g.a.ld, g.a.each = width, rows*width
}

func (g *pairProduct) borrow() {
	g.a.room, g.b.room = borrow[float32](g.a.count*g.a.each), borrow[float32](g.b.count*g.b.each)
}

func (g *pairProduct) giveBack() {
	giveBack(g.a.room)
	giveBack(g.b.room)
}

// do computes blocks of C. The blocks of k depend on k alone, so the bits do not depend on the blocks of C.
func (g pairProduct) Do(lo, hi int) {
	blocks := kBlocks(g.pairs)
	var room, rows *[]float32
	if g.once {
		room = borrow[float32](panelsOnce * blockK * simd.PairWidth)
		rows = borrow[float32](simd.PairWidth * simd.PairsOf(2*blockK))
	}
	aRow, aCol := g.a.ld, 1
	if g.a.columns {
		aRow, aCol = 1, g.a.ld
	}
	for task := lo; task < hi; task++ {
		which, down, across := task/(g.down*g.across), task/g.across%g.down, task%g.across
		i0, i1 := cutAt(down, g.down, g.M, simd.PairRowsTall), cutAt(down+1, g.down, g.M, simd.PairRowsTall)
		p0, p1 := parallel.Share(across, g.across, g.panels), parallel.Share(across+1, g.across, g.panels)
		a, c := g.a.matrix(which), g.C.Data[which*g.C.Step:]
		for l := range blocks {
			q0, q1 := parallel.Share(l, blocks, g.pairs), parallel.Share(l+1, blocks, g.pairs)
			beta := g.Beta
			if l > 0 {
				beta = 1
			}
			for p := p0; p < p1 && i0 < i1; p++ {
				j, n := p*simd.PairWidth, min(simd.PairWidth, g.N-p*simd.PairWidth)
				var b []float32
				if g.once {
					copied, panel := (p-p0)%panelsOnce, (q1-q0)*simd.PairWidth
					if copied == 0 {
						g.packPanels(which, p, min(p+panelsOnce, p1), q0, q1, *room, panel, *rows)
					}
					b = (*room)[copied*panel:]
				} else {
					b = g.b.matrix(which)[p*g.b.ld+q0*simd.PairWidth:]
				}
				simd.PairTile(i1-i0, n, q1-q0, g.Alpha, a[i0*aRow+q0*aCol:], aRow, aCol, simd.PairRowsTall*aRow,
					b, simd.PairWidth, beta, c[i0*g.C.Row+j:], g.C.Row)
			}
		}
	}
	giveBack(room)
	giveBack(rows)
}

// packPairsA copies A, chunks at a time.
type packPairsA struct{ pairProduct }

func (g packPairsA) Do(lo, hi int) {
	for task := lo; task < hi; task++ {
		i, chunk := task/g.chunks, task%g.chunks
		from, to := g.A.Data[i*g.A.Step:], g.a.matrix(i)
		if g.a.columns {
			q0, q1 := chunk*packedPairs, min((chunk+1)*packedPairs, g.pairs)
			pairUp(g.M, min(2*q1, g.K)-2*q0, from[2*q0*g.A.Col:], g.A.Col, to[q0*g.a.ld:], g.a.ld, simd.PairWidth)
			continue
		}
		r0, r1 := chunk*packedRows, min((chunk+1)*packedRows, g.M)
		simd.PairElements(r1-r0, g.K, from[r0*g.A.Row:], g.A.Row, to[r0*g.a.ld:], g.a.ld)
	}
}

// pairUp writes the pairs of k rows of n elements that are neighbours in a column, in panels: each row of pairs toRow
// elements behind the one before, each panel panel elements. Behind the last row there are zeros.
func pairUp(n, k int, x []float32, row int, to []float32, toRow, panel int) {
	pairs := k / 2
	if pairs > 0 {
		simd.PairRows(pairs, n, x, x[row:], 2*row, to, toRow, panel)
	}
	if k%2 == 0 {
		return
	}
	var zeros [simd.PairWidth]float32
	x, to = x[(k-1)*row:], to[pairs*toRow:]
	for j := 0; j < n; j += simd.PairWidth {
		simd.PairRows(1, min(simd.PairWidth, n-j), x[j:], zeros[:], 0, to[j/simd.PairWidth*panel:], 0, 0)
	}
}

// packPairsB copies panels of B.
type packPairsB struct{ pairProduct }

func (g packPairsB) Do(lo, hi int) {
	rows := borrow[float32](simd.PairWidth * simd.PairsOf(g.K))
	for task := lo; task < hi; task++ {
		i, panel := task/g.panels, task%g.panels
		g.packPanels(i, panel, panel+1, 0, g.pairs, g.b.matrix(i)[panel*g.b.ld:], 0, *rows)
	}
	giveBack(rows)
}

// packPanels copies the pairs [q0,q1) of the panels [p0,p1) of matrix i of B. panel is the distance between the copies
// of panels, in floats; rows is room for the columns of one.
func (g *pairProduct) packPanels(i, p0, p1, q0, q1 int, to []float32, panel int, rows []float32) {
	k := min(2*q1, g.K) - 2*q0
	if g.B.stored() {
		g.packStored(i, p0, p1, q0, k, to, panel, rows)
		return
	}
	from := g.B.Data[i*g.B.Step:]
	if g.B.Col == 1 {
		column := p0 * simd.PairWidth
		pairUp(min(p1*simd.PairWidth, g.N)-column, k, from[2*q0*g.B.Row+column:], g.B.Row, to, simd.PairWidth, panel)
		return
	}
	ld := simd.PairsOf(k)
	for p := p0; p < p1; p++ {
		column := p * simd.PairWidth
		n := min(simd.PairWidth, g.N-column)
		simd.PairElements(n, k, from[column*g.B.Col+2*q0:], g.B.Col, rows, ld)
		simd.TransposePanel(q1-q0, n, rows, ld, to[(p-p0)*panel:], simd.PairWidth)
	}
}
