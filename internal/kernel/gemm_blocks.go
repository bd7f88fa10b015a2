package kernel

// A block of A of blockRows (float32) by blockK stays in the second-level cache while a panel of B, blockK
// deep and as wide as a tile, stays in the first.
const (
	blockK    = 256
	blockRows = 384
)

// A matrix B of farBytes or more is thought to lie in memory. Where panels are read in place, aheadBytes of each row
// of a block are asked for before: memory then has more to do at a time. Copying asks for itself.
const (
	farBytes   = 1 << 20
	aheadBytes = 512
	longRow    = 12 << 10 // bytes of a row from which memory is read as fast by several rows together

	storedAhead = aheadBytes / 2 // columns of a stored B that are asked for at a time
	storedTall  = 128            // rows, at least, for which it is widened
)

// maxRows returns how many rows one goroutine takes at once.
func maxRows[F Float]() int { return blockRows * 4 / sizeOf[F]() }

// kBlocks returns into how many blocks k is cut.
func kBlocks(k int) int { return (k + blockK - 1) / blockK }

// tiles goes over k block by block, and for each over the panels of B. The blocks of k follow from k alone.
func (g *product[F]) tiles(p path) {
	rows, lanes := tileShape[F](p)
	width := 2 * lanes
	var w *workspace[F]
	if g.packA || g.packB || g.b.stored != nil || g.n%lanes != 0 || g.c.col != 1 {
		pool := poolOf[F](&workspaces)
		w = pool.Get().(*workspace[F])
		defer pool.Put(w)
	}
	if g.c.col != 1 {
		g.scattered(p, w)
		return
	}
	blocks := kBlocks(g.k)
	beta := g.beta
	ahead := aheadBytes / sizeOf[F]()
	far := !g.packB && g.b.stored == nil && g.k*g.b.apart() >= farBytes
	for l := range blocks {
		k0, k1 := block(l, blocks, g.k), block(l+1, blocks, g.k)
		k := k1 - k0
		a := g.a.from(0, k0)
		panel := rows * a.row
		if g.packA {
			a, panel = packRows(p, w, a, g.m, k, rows, width)
		}
		together := g.m
		if a.row != 1 && a.col != 1 {
			together = 1 // tiles of several rows read A by whole rows or columns
		}
		for j := 0; j < g.n; j += width {
			n, m := min(width, g.n-j), g.m
			if g.upper {
				m = min(m, j+n-g.diagonal)
			}
			b := g.b.from(k0, j)
			if far && j%ahead == 0 {
				foresee(p, k, min(ahead, g.n-j), b.data, b.row)
			}
			if b.stored != nil {
				if j%storedAhead == 0 {
					b.foresee(p, k, min(storedAhead, g.n-j))
				}
				b = widenPanel(p, w, b, k, n)
			}
			if b.col != 1 || g.packB && g.b.stored == nil || n%lanes != 0 {
				b = packColumns(p, w, b, k, n, (n+lanes-1)/lanes*lanes)
			}
			for i := 0; i < m; i += together {
				tile(p, min(together, m), n, k, g.alpha, a.data[i*a.row:], a.row, a.col, panel, b.data, b.row, beta,
					g.c.data[i*g.c.row+j:], g.c.row)
			}
		}
		beta = 1
	}
}

// packRows copies m rows of A into panels as tall as a tile, in which the elements of a column lie together.
func packRows[F Float](p path, w *workspace[F], a matrix[F], m, k, rows, width int) (packed matrix[F], panel int) {
	// Copying writes whole vectors, also behind the last column of a panel.
	panel = rows*k + width
	dst := room(&w.a, (m+rows-1)/rows*panel)
	// A few columns at a time: they lie in lines that compete for the same places in the cache.
	const step = 16
	if a.row == 1 {
		for q := 0; q < k; q += step {
			for i := 0; i < m; i += rows {
				copyPanel(p, min(step, k-q), min(rows, m-i), a.data[i+q*a.col:], a.col, dst[i/rows*panel+q*rows:], rows)
			}
		}
		return matrix[F]{data: dst, row: 1, col: rows}, panel
	}
	for i := 0; i < m; i += rows {
		transposePanel(p, k, min(rows, m-i), a.data[i*a.row:], a.row, dst[i/rows*panel:], rows)
	}
	return matrix[F]{data: dst, row: 1, col: rows}, panel
}

// packColumns copies n columns of B into a panel of whole vectors.
func packColumns[F Float](p path, w *workspace[F], b matrix[F], k, n, width int) matrix[F] {
	dst := room(&w.b, k*width)
	packPanel(p, k, n, b.data, b.row, b.col, dst, width)
	return matrix[F]{data: dst, row: width, col: 1}
}

// packPanel sets dst[q·dstRow+j] ← src[q·along+j·across] for q < k and j < n; one of the strides is 1.
func packPanel[F Float](p path, k, n int, src []F, along, across int, dst []F, dstRow int) {
	if across == 1 {
		copyPanel(p, k, n, src, along, dst, dstRow)
	} else {
		transposePanel(p, k, n, src, across, dst, dstRow)
	}
}

// scatterColumns is how many columns of a row that lies scattered in memory are computed at once.
const scatterColumns = 512

// scattered computes the single row of a product whose elements lie apart (it began as a column).
func (g *product[F]) scattered(p path, w *workspace[F]) {
	row := room(&w.a, scatterColumns)
	for j := 0; j < g.n; j += scatterColumns {
		part := g.part(0, 1, j, min(j+scatterColumns, g.n))
		out := part.c
		part.c = matrix[F]{data: row, row: scatterColumns, col: 1}
		if g.beta != 0 {
			for i := range part.n {
				row[i] = out.data[i*out.col]
			}
		}
		part.tiles(p)
		for i := range part.n {
			out.data[i*out.col] = row[i]
		}
	}
}

// dotRows is how many products of rows are computed before they go to C.
const dotRows = 256

// dots computes the single column of a product whose rows of A are contiguous.
func (g *product[F]) dots(p path) {
	pool := poolOf[F](&workspaces)
	w := pool.Get().(*workspace[F])
	defer pool.Put(w)
	x := g.b.data
	if g.b.stored != nil {
		x = room(&w.b, g.k)
		widen(p, x, g.b.stored)
	} else if g.b.row != 1 {
		x = room(&w.b, g.k)
		for i := range x {
			x[i] = g.b.data[i*g.b.row]
		}
	}
	x = x[:g.k]
	far := g.m*g.a.apart() >= farBytes/8 && g.a.apart() < longRow // the rows are a part of the matrix
	for i := 0; i < g.m; i += dotRows {
		y := room(&w.a, min(dotRows, g.m-i))
		switch {
		case g.a.stored != nil:
			dotsStored(p, w, g.a.stored[i*g.a.row:], g.a.row, x, y)
		case far: // a row after the other, for memory is then read along
			rowDots(p, g.k, g.a.data[i*g.a.row:], g.a.row, x, 0, y)
		default:
			dot(p, g.a.data[i*g.a.row:], g.a.row, x, y)
		}
		c := g.c.data[i*g.c.row:]
		for r, s := range y {
			if g.beta == 0 {
				c[r*g.c.row] = g.alpha * s
			} else {
				c[r*g.c.row] = g.alpha*s + g.beta*c[r*g.c.row]
			}
		}
	}
}
