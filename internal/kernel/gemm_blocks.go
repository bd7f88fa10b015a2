package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// A block of A of blockRows (float32) by blockK stays in the second-level cache while a panel of B, blockK
// deep and as wide as a tile, stays in the first.
const (
	blockK      = 256
	blockRows   = 384
	partBlocks  = 4  // largest number of blocks of rows that share copies
	groupPanels = 16 // panels copied for the rows of several blocks; they stay in the second-level cache
)

// A matrix B of farBytes or more is assumed to be in memory, not in a cache. Where panels are read in place, aheadBytes
// of each row of a block are prefetched, so that memory serves more reads at a time. Copying needs no prefetch.
const (
	farBytes   = 1 << 20
	aheadBytes = 512
	longRow    = 12 << 10 // bytes of a row from which memory is read fast by several rows together

	storedAhead = aheadBytes / 2 // columns of a stored B that are prefetched together
	storedTall  = 128            // least number of rows for which it is widened
)

// blockHeight returns the number of rows of A that one goroutine multiplies by a panel of B at a time.
func blockHeight[F Float]() int { return blockRows * 4 / simd.SizeOf[F]() }

// kBlocks returns the number of blocks of k.
func kBlocks(k int) int { return (k + blockK - 1) / blockK }

// tiles processes k block by block, and for each block groups of columns, blocks of rows and panels of columns. The
// blocks of k depend on k alone. The copy of a panel serves all blocks of rows.
func (g *Product[F]) tiles() {
	rows, lanes := simd.TileShape[F]()
	width, height := 2*lanes, blockHeight[F]()
	copies := g.packB || g.B.stored()
	var w *workspace[F]
	if g.packA || copies || g.N%lanes != 0 || g.C.Col != 1 {
		pool := poolOf[F](&workspaces)
		w = pool.Get().(*workspace[F])
		defer pool.Put(w)
	}
	if g.C.Col != 1 {
		g.scattered(w)
		return
	}
	group := g.N
	if copies {
		group = width
		if g.M > height || g.B.Blocks != nil { // blocks may be longer than a panel is wide
			group *= groupPanels
		}
	}
	blocks, beta := kBlocks(g.K), g.Beta
	for l := range blocks {
		k0, k1 := parallel.Share(l, blocks, g.K), parallel.Share(l+1, blocks, g.K)
		k := k1 - k0
		a := g.A.from(0, k0)
		panel := rows * a.Row
		if g.packA {
			a, panel = packRows(w, a, g.M, k, rows, width)
		}
		together := height
		if a.Row != 1 && a.Col != 1 {
			together = 1 // tiles of several rows read A by whole rows or columns
		}
		for j0 := 0; j0 < g.N; j0 += group {
			if copies {
				g.copyPanels(w, k0, k, j0, min(j0+group, g.N), width)
			}
			for i0 := 0; i0 < g.M; i0 += height {
				for j := j0; j < min(j0+group, g.N); j += width {
					n, i1 := min(width, g.N-j), min(i0+height, g.M)
					if g.symmetric {
						i1 = min(i1, j+n-g.diagonal)
					}
					var b Matrix[F]
					if copies {
						b = Rows(w.b[(j-j0)*k:], width)
					} else if b = g.prefetched(k0, k, j); n%lanes != 0 {
						b = packColumns(w, b, k, n, width)
					}
					for i := i0; i < i1; i += together {
						simd.Tile(min(together, i1-i), n, k, g.Alpha, a.Data[i/rows*panel+i%rows*a.Row:], a.Row, a.Col, panel,
							b.Data, b.Row, beta, g.C.Data[i*g.C.Row+j:], g.C.Row)
					}
				}
			}
		}
		beta = 1
	}
}

// prefetched returns a panel of B that is read in place, which begins at element (k0,j).
func (g *Product[F]) prefetched(k0, k, j int) Matrix[F] {
	b := g.B.from(k0, j)
	ahead := aheadBytes / simd.SizeOf[F]()
	if j%ahead == 0 && g.K*b.distance() >= farBytes {
		simd.Prefetch(k, min(ahead, g.N-j), b.Data, b.Row)
	}
	return b
}

// copyPanels copies k rows of the columns [j0,j1) of B to panels of the given width.
func (g *Product[F]) copyPanels(w *workspace[F], k0, k, j0, j1, width int) {
	panels, all := room(&w.b, (j1-j0+width-1)/width*width*k), g.B.from(k0, j0)
	switch {
	case all.Blocks == nil:
	case all.Col == 1:
		all = widenRows(room(&w.wide, k*(j1-j0)), all, k, j1-j0)
	default:
		all = widenColumns(w, all, k, j1-j0)
	}
	for j := j0; j < j1; j += width {
		b, n, panel := all.from(0, j-j0), min(width, j1-j), panels[(j-j0)*k:]
		if b.Stored != nil {
			if j%storedAhead == 0 {
				b.prefetch(k, min(storedAhead, g.N-j))
			}
			if b.Col == 1 {
				simd.WidenTo(k, n, panel, width, b.Stored, b.Row)
				continue
			}
			b = widenColumns(w, b, k, n)
		}
		packPanel(k, n, b.Data, b.Row, b.Col, panel, width)
	}
}

// packRows copies m rows of A into panels as tall as a tile, in which the elements of a column are contiguous.
func packRows[F Float](w *workspace[F], a Matrix[F], m, k, rows, width int) (packed Matrix[F], panel int) {
	// Copying writes whole vectors, also behind the last column of a panel.
	panel = rows*k + width
	dst := room(&w.a, (m+rows-1)/rows*panel)
	// A few columns at a time, since their lines compete for the same sets of the cache.
	const step = 16
	if a.Row == 1 {
		for q := 0; q < k; q += step {
			for i := 0; i < m; i += rows {
				simd.CopyPanel(min(step, k-q), min(rows, m-i), a.Data[i+q*a.Col:], a.Col,
					dst[i/rows*panel+q*rows:], rows)
			}
		}
		return Matrix[F]{Data: dst, Row: 1, Col: rows}, panel
	}
	for i := 0; i < m; i += rows {
		simd.TransposePanel(k, min(rows, m-i), a.Data[i*a.Row:], a.Row, dst[i/rows*panel:], rows)
	}
	return Matrix[F]{Data: dst, Row: 1, Col: rows}, panel
}

// packColumns copies n columns of B into a panel of whole vectors.
func packColumns[F Float](w *workspace[F], b Matrix[F], k, n, width int) Matrix[F] {
	dst := room(&w.b, k*width)
	packPanel(k, n, b.Data, b.Row, b.Col, dst, width)
	return Matrix[F]{Data: dst, Row: width, Col: 1}
}

// packPanel sets dst[q·dstRow+j] ← src[q·along+j·across] for q < k and j < n; one of the strides is 1.
func packPanel[F Float](k, n int, src []F, along, across int, dst []F, dstRow int) {
	if across == 1 {
		simd.CopyPanel(k, n, src, along, dst, dstRow)
	} else {
		simd.TransposePanel(k, n, src, across, dst, dstRow)
	}
}

// scatterColumns is the number of columns of a scattered row that are computed at a time.
const scatterColumns = 512

// scattered computes the single row of a product whose elements are not contiguous (it began as a column).
func (g *Product[F]) scattered(w *workspace[F]) {
	row := room(&w.a, scatterColumns)
	for j := 0; j < g.N; j += scatterColumns {
		part := g.part(0, 0, 1, j, min(j+scatterColumns, g.N))
		out := part.C
		part.C = Matrix[F]{Data: row, Row: scatterColumns, Col: 1}
		if g.Beta != 0 {
			for i := range part.N {
				row[i] = out.Data[i*out.Col]
			}
		}
		part.tiles()
		for i := range part.N {
			out.Data[i*out.Col] = row[i]
		}
	}
}
