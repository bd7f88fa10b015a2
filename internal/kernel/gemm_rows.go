package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// A product with few rows takes as long as it takes to read B. Tiles read a few columns of B at a time; here B is read
// row by row, in the direction in which the processor prefetches.
const (
	fewRows       = 4
	fewRowsLeast  = 1 << 16 // elements of B from which this pays for more than one row
	fewRowsWork   = 1 << 16 // least number of elements of B for one goroutine
	fewRowsAcross = 384     // least number of columns for one goroutine
	rowsTogether  = 8       // rows of B that stay in the first-level cache while all rows of A use them
)

// readsAlong reports whether the product has so few rows that B is read along its rows.
func (g *Product[F]) readsAlong() bool {
	return g.B.Col == 1 && g.C.Col == 1 && g.Alpha == 1 && (g.Beta == 0 || g.Beta == 1) &&
		(g.M == 1 || g.M <= fewRows && g.N*g.K >= fewRowsLeast)
}

// along computes a product with few rows: each is the sum of B's rows, weighted by a row of A. It adds in the order of
// tiles, block by block of k, so the bits are the same.
func (g *Product[F]) along() {
	pool := poolOf[F](&workspaces)
	w := pool.Get().(*workspace[F])
	weights, sums := g.weights(w), room(&w.b, g.M*g.N)
	for l := range kBlocks(g.K) {
		g.sumAlong(l, weights, sums, g.N)
		g.addSums(l, sums)
	}
	pool.Put(w)
}

// weights returns A, copied if its rows are not contiguous.
func (g *Product[F]) weights(w *workspace[F]) Matrix[F] {
	if g.A.Col == 1 {
		return g.A
	}
	copied := Matrix[F]{Data: room(&w.a, g.M*g.K), Row: g.K, Col: 1}
	for i := range g.M {
		for q := range g.K {
			copied.Data[i*g.K+q] = g.A.Data[i*g.A.Row+q*g.A.Col]
		}
	}
	return copied
}

// sumAlong writes the sums over block l of k, as rows with the stride ld.
func (g *Product[F]) sumAlong(l int, weights Matrix[F], sums []F, ld int) {
	blocks := kBlocks(g.K)
	end := parallel.Share(l+1, blocks, g.K)
	for i := range g.M {
		clear(sums[i*ld:][:g.N])
	}
	_, lanes := simd.TileShape[F]()
	step, widens := rowsTogether, g.B.Blocks != nil || g.B.Stored != nil && g.N%lanes != 0
	if g.M == 1 && !widens {
		step = blockK
	}
	var room *[]F
	if widens {
		room = borrow[F](step * g.N)
	}
	for k0 := parallel.Share(l, blocks, g.K); k0 < end; k0 += step {
		rows, b := min(step, end-k0), g.B.from(k0, 0)
		if widens {
			b = widenRows(*room, b, rows, g.N)
		}
		for i := range g.M {
			x, sum := weights.Data[i*weights.Row+k0:][:rows], sums[i*ld:][:g.N]
			if b.Stored != nil {
				simd.WeighStored(1, b.Stored, b.Row, x, sum)
				continue
			}
			simd.Weigh(1, b.Data, b.Row, x, sum)
		}
	}
	giveBack(room)
}

// addSums sets C ← sums of block l of k + β·C, where β is 1 after the first block.
func (g *Product[F]) addSums(l int, sums []F) {
	for i := range g.M {
		c, sum := g.C.Data[i*g.C.Row:][:g.N], sums[i*g.N:][:g.N]
		if l == 0 && g.Beta == 0 {
			copy(c, sum)
		} else {
			simd.AddRows(1, g.N, c, c, sum)
		}
	}
}

// shareAlong is along on several goroutines. Each computes its own blocks of k and of columns.
func (g *Product[F]) shareAlong() {
	blocks := kBlocks(g.K)
	across := evenParts(blocks, min(max(1, g.N/fewRowsAcross), max(1, g.K*g.N/fewRowsWork/blocks)))
	pool := poolOf[F](&workspaces)
	w := pool.Get().(*workspace[F])
	sums := room(&w.b, blocks*g.M*g.N)
	parallel.Do(alongCall[F]{*g, g.weights(w), sums, across}, blocks*across, 1)
	for l := range blocks {
		g.addSums(l, sums[l*g.M*g.N:])
	}
	pool.Put(w)
}

// evenParts returns the number of parts, at most most, into which each block is divided: few enough for long rows, but
// at least four and such that every core gets the same number. Longer rows are read faster.
func evenParts(blocks, most int) int {
	const least = 4 // so that no core waits long for another
	for parts := 1; parts < most; parts++ {
		if n := blocks * parts; n%parallel.Cores() == 0 && n >= least*parallel.Cores() {
			return parts
		}
	}
	return most
}

// alongCall computes the sums of a product with few rows: its parts are blocks of k, each divided into across blocks of
// columns.
type alongCall[F Float] struct {
	product Product[F]
	weights Matrix[F]
	sums    []F // (blocks,m,n)
	across  int
}

func (c alongCall[F]) Do(lo, hi int) {
	m, n := c.product.M, c.product.N
	for i := lo; i < hi; i++ {
		l, j0, j1 := i/c.across, parallel.Share(i%c.across, c.across, n), parallel.Share(i%c.across+1, c.across, n)
		part := c.product.part(0, 0, m, j0, j1)
		part.sumAlong(l, c.weights, c.sums[l*m*n+j0:], n)
	}
}

// dotRows is the number of products of rows that are computed before they are written to C.
const dotRows = 256

// dots computes the single column of a product whose rows of A are contiguous.
func (g *Product[F]) dots() {
	pool := poolOf[F](&workspaces)
	w := pool.Get().(*workspace[F])
	defer pool.Put(w)
	x := g.B.Data
	if g.B.stored() {
		x = widenRows(room(&w.b, g.K), g.B, g.K, 1).Data
	} else if g.B.Row != 1 {
		x = room(&w.b, g.K)
		for i := range x {
			x[i] = g.B.Data[i*g.B.Row]
		}
	}
	x = x[:g.K]
	far := g.M*g.A.distance() >= farBytes/8 && g.A.distance() < longRow // the rows are a part of the matrix
	for i := 0; i < g.M; i += dotRows {
		y := room(&w.a, min(dotRows, g.M-i))
		switch {
		case g.A.stored():
			dotsStored(w, g.A.from(i, 0), x, y)
		case far: // row by row, because memory is then read sequentially
			simd.RowDots(g.K, g.A.Data[i*g.A.Row:], g.A.Row, x, 0, y)
		default:
			simd.Dot(g.A.Data[i*g.A.Row:], g.A.Row, x, y)
		}
		c := g.C.Data[i*g.C.Row:]
		for r, s := range y {
			if g.Beta == 0 {
				c[r*g.C.Row] = g.Alpha * s
			} else {
				c[r*g.C.Row] = g.Alpha*s + g.Beta*c[r*g.C.Row]
			}
		}
	}
}
