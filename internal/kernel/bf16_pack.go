package kernel

const (
	packedRows  = 32 // rows of A that are copied at a time
	packedPairs = 8  // pairs of its columns
)

// packPairsA copies A, chunks at a time.
type packPairsA struct{ pairProduct }

func (g packPairsA) do(lo, hi int) {
	for task := lo; task < hi; task++ {
		i, chunk := task/g.chunks, task%g.chunks
		from, to := g.a.from.data[i*g.a.step:], g.a.matrix(i)
		if g.a.columns {
			q0, q1 := chunk*packedPairs, min((chunk+1)*packedPairs, g.pairs)
			pairUp(g.m, min(2*q1, g.k)-2*q0, from[2*q0*g.a.from.col:], g.a.from.col, to[q0*g.a.ld:], g.a.ld, pairWidth)
			continue
		}
		r0, r1 := chunk*packedRows, min((chunk+1)*packedRows, g.m)
		pairElements(r1-r0, g.k, from[r0*g.a.from.row:], g.a.from.row, to[r0*g.a.ld:], g.a.ld)
	}
}

// pairUp writes the pairs of k rows of n elements that are neighbours in a column, in panels: each row of pairs toRow
// elements behind the one before, each panel panel elements. Behind the last row there are zeros.
func pairUp(n, k int, x []float32, row int, to []float32, toRow, panel int) {
	pairs := k / 2
	if pairs > 0 {
		pairRows(pairs, n, x, x[row:], 2*row, to, toRow, panel)
	}
	if k%2 == 0 {
		return
	}
	var zeros [pairWidth]float32
	x, to = x[(k-1)*row:], to[pairs*toRow:]
	for j := 0; j < n; j += pairWidth {
		pairRows(1, min(pairWidth, n-j), x[j:], zeros[:], 0, to[j/pairWidth*panel:], 0, 0)
	}
}

// packPairsB copies panels of B.
type packPairsB struct{ pairProduct }

func (g packPairsB) do(lo, hi int) {
	rows := borrow[float32](pairWidth * pairsOf(g.k))
	for task := lo; task < hi; task++ {
		i, panel := task/g.panels, task%g.panels
		g.packPanels(i, panel, panel+1, 0, g.pairs, g.b.matrix(i)[panel*g.b.ld:], 0, *rows)
	}
	giveBack(rows)
}

// packPanels copies the pairs [q0,q1) of the panels [p0,p1) of a matrix B, each as far behind the one before as panel
// says. rows is room for the columns of one.
func (g *pairProduct) packPanels(i, p0, p1, q0, q1 int, to []float32, panel int, rows []float32) {
	k := min(2*q1, g.k) - 2*q0
	if g.b.from.stored != nil {
		g.packStored(p0, p1, q0, k, to, panel, rows)
		return
	}
	from := g.b.from.data[i*g.b.step:]
	if g.b.from.col == 1 {
		column := p0 * pairWidth
		pairUp(min(p1*pairWidth, g.n)-column, k, from[2*q0*g.b.from.row+column:], g.b.from.row, to, pairWidth, panel)
		return
	}
	ld := pairsOf(k)
	for p := p0; p < p1; p++ {
		column := p * pairWidth
		n := min(pairWidth, g.n-column)
		pairElements(n, k, from[column*g.b.from.col+2*q0:], g.b.from.col, rows, ld)
		transposePanel(chosenPath, q1-q0, n, rows, ld, to[(p-p0)*panel:], pairWidth)
	}
}
