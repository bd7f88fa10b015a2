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
type packPairsB struct{ pairProduct }

func (g packPairsB) do(lo, hi int) {
	rows := borrow[float32](pairWidth * pairsOf(g.k))
	for task := lo; task < hi; task++ {
		i, panel := task/g.panels, task%g.panels
		column := panel * pairWidth
		g.packPanel(i, column, min(pairWidth, g.n-column), 0, g.pairs, g.b.matrix(i)[panel*g.b.ld:], *rows)
	}
	giveBack(rows)
}

// packPanel copies the pairs [q0,q1) of n columns of a matrix B. rows is room for the columns.
func (g *pairProduct) packPanel(i, column, n, q0, q1 int, to, rows []float32) {
	from := g.b.from.data[i*g.b.step:]
	if g.b.from.col == 1 {
		for q := q0; q < q1; q++ {
			g.pairUp(from, g.b.from.row, q, column, n, to[(q-q0)*pairWidth:])
		}
		return
	}
	k := min(2*q1, g.k) - 2*q0
	ld := pairsOf(k)
	for j := range n {
		pairElements(from[(column+j)*g.b.from.col+2*q0:][:k], rows[j*ld:])
	}
	transposePanel(chosenPath, q1-q0, n, rows, ld, to, pairWidth)
}
