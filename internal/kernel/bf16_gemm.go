package kernel

// GemmStridedBF16 is GemmStrided of A and B rounded to bfloat16. Their products are exact; sums are rounded to float32
// as VDPBF16PS does, where plain Go computes them too: of two neighbours along k the second first, and numbers below
// the smallest normal one are 0. All processors and any number of threads give the same bits, those of NaN excepted.
func GemmStridedBF16(batch int, transA, transB Transpose, m, n, k int, alpha float32, a []float32, lda, strideA int,
	b []float32, ldb, strideB int, beta float32, c []float32, ldc, strideC int) {
	if min(batch, m, n, k) <= 0 || alpha == 0 { // nothing to multiply, or a mistake
		GemmStrided(batch, transA, transB, m, n, k, alpha, a, lda, strideA, b, ldb, strideB, beta, c, ldc, strideC)
		return
	}
	checkProduct(batch, transA, transB, m, n, k, len(a), lda, strideA, len(b), ldb, strideB, len(c), ldc, strideC)
	g := pairProduct{
		m: m, n: n, k: k, pairs: (k + 1) / 2, alpha: alpha, beta: beta, c: c, ldc: ldc, stepC: strideC,
		a: pairMatrix{from: view(transA, a, lda), step: strideA, count: distinct(batch, strideA)},
		b: pairMatrix{from: view(transB, b, ldb), step: strideB, count: distinct(batch, strideB)},
	}
	g.down = (m + blockRows - 1) / blockRows
	panels := (n + pairWidth - 1) / pairWidth
	g.across = min(panels, max(1, 4*cores()/(batch*g.down)))
	g.layOut(panels)
	roomA, roomB := borrow[float32](g.a.count*g.a.each), borrow[float32](g.b.count*g.b.each)
	g.a.data, g.b.data = *roomA, *roomB
	chunks := (m + packedRows - 1) / packedRows
	if g.a.columns {
		chunks = (g.pairs + packedPairs - 1) / packedPairs
	}
	split(packPairsA{g, chunks}, g.a.count*chunks, 1+grainFast/(packedRows*k))
	split(packPairsB{g, panels}, g.b.count*panels, 1+grainFast/(pairWidth*k))
	tasks := batch * g.down * g.across
	split(g, tasks, 1+int(float64(leastPairs)*float64(tasks)/(float64(batch)*float64(m)*float64(n)*float64(k))))
	giveBack(roomA)
	giveBack(roomB)
}

const (
	leastPairs  = 1 << 19 // multiply-adds below which another goroutine costs more than it brings
	packedRows  = 32      // rows of A that are copied at a time
	packedPairs = 8       // pairs of its columns
)

// distinct returns how many matrices of a batch differ.
func distinct(batch, stride int) int {
	if stride == 0 {
		return 1
	}
	return batch
}

// pairMatrix is the matrices of A or B, and their copies as pairs.
type pairMatrix struct {
	from        matrix[float32]
	step, count int // from one matrix to the next, and how many there are
	data        []float32
	each        int  // elements of the copy of a matrix
	columns     bool // the copy of A holds its columns, because these lie together in A
	ld          int  // from one row, or column, of the copy to the next
}

// matrix returns the copy of a matrix of the batch.
func (p *pairMatrix) matrix(i int) []float32 {
	if p.count == 1 {
		i = 0
	}
	return p.data[i*p.each:][:p.each]
}

// pairProduct is a batch of products, cut into blocks of C.
type pairProduct struct {
	m, n, k, pairs int
	alpha, beta    float32
	a, b           pairMatrix
	c              []float32
	ldc, stepC     int
	down, across   int // blocks of each product
}

// layOut chooses where copies lie. B's are panels of columns; A's have the order of A. Rows that compete for the same
// places in the cache are moved apart.
func (g *pairProduct) layOut(panels int) {
	g.b.ld = g.pairs * pairWidth
	g.b.each = panels * g.b.ld
	g.a.columns = g.a.from.row == 1 && g.a.from.col != 1
	rows, width := g.m, pairsOf(g.k)
	if g.a.columns {
		rows, width = g.pairs, (g.m+pairWidth-1)/pairWidth*pairWidth
	}
	if width%256 == 0 {
		width += vector
	}
	g.a.ld, g.a.each = width, rows*width
}

// packPairsA copies A, chunks at a time.
type packPairsA struct {
	pairProduct
	chunks int
}

func (g packPairsA) do(lo, hi int) {
	for task := lo; task < hi; task++ {
		i, chunk := task/g.chunks, task%g.chunks
		from, to := g.a.from.data[i*g.a.step:], g.a.matrix(i)
		if g.a.columns {
			for q := chunk * packedPairs; q < min((chunk+1)*packedPairs, g.pairs); q++ {
				g.pairUp(from, g.a.from.col, q, 0, g.m, to[q*g.a.ld:])
			}
			continue
		}
		for r := chunk * packedRows; r < min((chunk+1)*packedRows, g.m); r++ {
			pairElements(from[r*g.a.from.row:][:g.k], to[r*g.a.ld:])
		}
	}
}

// pairUp writes pair q of each of n columns; behind the last row there are zeros.
func (g *pairProduct) pairUp(from []float32, ld, q, column, n int, to []float32) {
	x := from[2*q*ld+column:][:n]
	if 2*q+1 < g.k {
		pairRows(x, from[(2*q+1)*ld+column:][:n], to, pairWidth)
		return
	}
	var zeros [pairWidth]float32
	for j := 0; j < n; j += pairWidth {
		part := x[j:min(j+pairWidth, n)]
		pairRows(part, zeros[:len(part)], to[j:], pairWidth)
	}
}

// packPairsB copies panels of B.
type packPairsB struct {
	pairProduct
	panels int
}

func (g packPairsB) do(lo, hi int) {
	ld := pairsOf(g.k)
	room := borrow[float32](pairWidth * ld)
	for task := lo; task < hi; task++ {
		i, panel := task/g.panels, task%g.panels
		from, to := g.b.from.data[i*g.b.step:], g.b.matrix(i)[panel*g.b.ld:][:g.b.ld]
		column, n := panel*pairWidth, min(pairWidth, g.n-panel*pairWidth)
		if g.b.from.col == 1 {
			for q := range g.pairs {
				g.pairUp(from, g.b.from.row, q, column, n, to[q*pairWidth:])
			}
			continue
		}
		for j := range n {
			pairElements(from[(column+j)*g.b.from.col:][:g.k], (*room)[j*ld:])
		}
		transposePanel(chosenPath, g.pairs, n, *room, ld, to, pairWidth)
	}
	giveBack(room)
}

// do computes blocks of C. Blocks of k follow from k alone: the bits do not depend on the blocks of C.
func (g pairProduct) do(lo, hi int) {
	aRow, aCol := g.a.ld, 1
	if g.a.columns {
		aRow, aCol = 1, g.a.ld
	}
	panels, blocks := (g.n+pairWidth-1)/pairWidth, kBlocks(g.pairs)
	for task := lo; task < hi; task++ {
		which, down, across := task/(g.down*g.across), task/g.across%g.down, task%g.across
		i0, i1 := cutAt(down, g.down, g.m, pairRowsTall), cutAt(down+1, g.down, g.m, pairRowsTall)
		p0, p1 := block(across, g.across, panels), block(across+1, g.across, panels)
		a, b, c := g.a.matrix(which), g.b.matrix(which), g.c[which*g.stepC:]
		for l := range blocks {
			q0, q1 := block(l, blocks, g.pairs), block(l+1, blocks, g.pairs)
			beta := g.beta
			if l > 0 {
				beta = 1
			}
			for p := p0; p < p1 && i0 < i1; p++ {
				j := p * pairWidth
				pairTile(i1-i0, min(pairWidth, g.n-j), q1-q0, g.alpha, a[i0*aRow+q0*aCol:], aRow, aCol,
					pairRowsTall*aRow, b[p*g.b.ld+q0*pairWidth:], pairWidth, beta, c[i0*g.ldc+j:], g.ldc)
			}
		}
	}
}
