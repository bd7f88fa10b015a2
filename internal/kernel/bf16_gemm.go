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
	pairProduct{
		batch: batch, m: m, n: n, k: k, alpha: alpha, beta: beta, c: c, ldc: ldc, stepC: strideC,
		a: pairMatrix{from: view(transA, a, lda), step: strideA, count: distinct(batch, strideA)},
		b: pairMatrix{from: view(transB, b, ldb), step: strideB, count: distinct(batch, strideB)},
	}.compute()
}

// compute does the products.
func (g pairProduct) compute() {
	g.layOut()
	g.across = min(g.panels, max(1, 4*cores()/(g.batch*g.down)))
	g.borrow()
	split(packPairsA{g}, g.a.count*g.chunks, 1+grainFast/(packedRows*g.k))
	if !g.once {
		split(packPairsB{g}, g.b.count*g.panels, 1+grainFast/(pairWidth*g.k))
	}
	rows := g.m
	if g.once {
		rows += packedAs
	}
	tasks := g.batch * g.down * g.across
	each := float64(g.batch) * float64(rows) * float64(g.n) * float64(g.k) / float64(tasks)
	split(g, tasks, 1+int(float64(leastPairs)/each))
	g.giveBack()
}

const (
	leastPairs = 1 << 19 // multiply-adds below which another goroutine costs more than it brings
	packedAs   = 16      // multiply-adds that take as long as copying an element
	panelsOnce = 4       // of B that are copied together: more of a row lies together than of a panel's part of it
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
	room        *[]float32
	each        int  // elements of the copy of a matrix
	columns     bool // the copy of A holds its columns, because these lie together in A
	ld          int  // from one row, or column, of the copy to the next
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
	batch, m, n, k int
	pairs, panels  int // along k, and of B
	alpha, beta    float32
	a, b           pairMatrix
	c              []float32
	ldc, stepC     int
	down, across   int  // blocks of each product
	chunks         int  // of A, which are copied at a time
	once           bool // each panel of B is read for one block: it is copied there
}

// layOut chooses where copies lie. B's are panels of columns; A's have the order of A. Rows that compete for the same
// places in the cache are moved apart.
func (g *pairProduct) layOut() {
	g.pairs, g.panels = (g.k+1)/2, (g.n+pairWidth-1)/pairWidth
	g.down = (g.m + blockRows - 1) / blockRows
	g.b.ld = g.pairs * pairWidth
	if g.once = g.down == 1 && g.b.count == g.batch; !g.once {
		g.b.each = g.panels * g.b.ld
	}
	g.a.columns = g.a.from.row == 1 && g.a.from.col != 1
	rows, width := g.m, pairsOf(g.k)
	g.chunks = (g.m + packedRows - 1) / packedRows
	if g.a.columns {
		rows, width = g.pairs, (g.m+pairWidth-1)/pairWidth*pairWidth
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

// do computes blocks of C. Blocks of k follow from k alone: the bits do not depend on the blocks of C.
func (g pairProduct) do(lo, hi int) {
	blocks := kBlocks(g.pairs)
	var room, rows *[]float32
	if g.once {
		room, rows = borrow[float32](panelsOnce*blockK*pairWidth), borrow[float32](pairWidth*pairsOf(2*blockK))
	}
	aRow, aCol := g.a.ld, 1
	if g.a.columns {
		aRow, aCol = 1, g.a.ld
	}
	for task := lo; task < hi; task++ {
		which, down, across := task/(g.down*g.across), task/g.across%g.down, task%g.across
		i0, i1 := cutAt(down, g.down, g.m, pairRowsTall), cutAt(down+1, g.down, g.m, pairRowsTall)
		p0, p1 := block(across, g.across, g.panels), block(across+1, g.across, g.panels)
		a, c := g.a.matrix(which), g.c[which*g.stepC:]
		for l := range blocks {
			q0, q1 := block(l, blocks, g.pairs), block(l+1, blocks, g.pairs)
			beta := g.beta
			if l > 0 {
				beta = 1
			}
			for p := p0; p < p1 && i0 < i1; p++ {
				j, n := p*pairWidth, min(pairWidth, g.n-p*pairWidth)
				var b []float32
				if g.once {
					copied, panel := (p-p0)%panelsOnce, (q1-q0)*pairWidth
					if copied == 0 {
						g.packPanels(which, p, min(p+panelsOnce, p1), q0, q1, *room, panel, *rows)
					}
					b = (*room)[copied*panel:]
				} else {
					b = g.b.matrix(which)[p*g.b.ld+q0*pairWidth:]
				}
				pairTile(i1-i0, n, q1-q0, g.alpha, a[i0*aRow+q0*aCol:], aRow, aCol, pairRowsTall*aRow, b, pairWidth, beta,
					c[i0*g.ldc+j:], g.ldc)
			}
		}
	}
	giveBack(room)
	giveBack(rows)
}
