package kernel

// A product with few rows takes as long as it takes to read B. Tiles go down a few columns of it at a time; here B's
// rows are read along, where the processor reads ahead.
const (
	fewRows       = 4
	fewRowsLeast  = 1 << 16 // elements of B from which this pays for more than one row
	fewRowsWork   = 1 << 16 // elements of B that one goroutine takes at least
	fewRowsAcross = 384     // columns that it takes at least
	rowsTogether  = 8       // rows of B that stay in the first-level cache while all rows of A weigh them
)

// readsAlong reports whether the product has so few rows that B is read along its rows.
func (g *product[F]) readsAlong() bool {
	return g.b.col == 1 && g.c.col == 1 && g.alpha == 1 && (g.beta == 0 || g.beta == 1) &&
		(g.m == 1 || g.m <= fewRows && g.n*g.k >= fewRowsLeast)
}

// along computes a product with few rows: each is the sum of B's rows, weighted by a row of A. It adds in the order of
// tiles, block by block of k: the bits are the same.
func (g *product[F]) along(p path) {
	pool := poolOf[F](&workspaces)
	w := pool.Get().(*workspace[F])
	weights, sums := g.weights(w), room(&w.b, g.m*g.n)
	for l := range kBlocks(g.k) {
		g.sumAlong(p, l, weights, sums, g.n)
		g.addSums(p, l, sums)
	}
	pool.Put(w)
}

// weights returns A, in whose rows the elements lie together.
func (g *product[F]) weights(w *workspace[F]) matrix[F] {
	if g.a.col == 1 {
		return g.a
	}
	copied := matrix[F]{data: room(&w.a, g.m*g.k), row: g.k, col: 1}
	for i := range g.m {
		for q := range g.k {
			copied.data[i*g.k+q] = g.a.data[i*g.a.row+q*g.a.col]
		}
	}
	return copied
}

// sumAlong writes the sums over block l of k, whose rows begin ld elements apart.
func (g *product[F]) sumAlong(p path, l int, weights matrix[F], sums []F, ld int) {
	blocks := kBlocks(g.k)
	end := block(l+1, blocks, g.k)
	for i := range g.m {
		clear(sums[i*ld:][:g.n])
	}
	_, lanes := tileShape[F](p)
	step, widens := rowsTogether, g.b.stored != nil && g.n%lanes != 0
	if g.m == 1 && !widens {
		step = blockK
	}
	var room *[]F
	if widens {
		room = borrow[F](step * g.n)
	}
	for k0 := block(l, blocks, g.k); k0 < end; k0 += step {
		rows, b := min(step, end-k0), g.b.from(k0, 0)
		if widens {
			b = widenRows(p, *room, b, rows, g.n)
		}
		for i := range g.m {
			x, sum := weights.data[i*weights.row+k0:][:rows], sums[i*ld:][:g.n]
			if b.stored != nil {
				weighStored(p, 1, b.stored, b.row, x, sum)
				continue
			}
			weigh(p, 1, b.data, b.row, x, sum)
		}
	}
	giveBack(room)
}

// addSums sets C ← sums of block l of k + β·C, where β is 1 after the first block.
func (g *product[F]) addSums(p path, l int, sums []F) {
	for i := range g.m {
		c, sum := g.c.data[i*g.c.row:][:g.n], sums[i*g.n:][:g.n]
		if l == 0 && g.beta == 0 {
			copy(c, sum)
		} else {
			addRows(p, 1, g.n, c, c, sum)
		}
	}
}

// shareAlong is along on several goroutines, each with blocks of k and of columns of its own.
func (g *product[F]) shareAlong(p path) {
	blocks := kBlocks(g.k)
	across := evenParts(blocks, min(max(1, g.n/fewRowsAcross), max(1, g.k*g.n/fewRowsWork/blocks)))
	pool := poolOf[F](&workspaces)
	w := pool.Get().(*workspace[F])
	sums := room(&w.b, blocks*g.m*g.n)
	split(alongCall[F]{p, *g, g.weights(w), sums, across}, blocks*across, 1)
	for l := range blocks {
		g.addSums(p, l, sums[l*g.m*g.n:])
	}
	pool.Put(w)
}

// evenParts returns how many parts, at most most, each block is cut into: as few as give every core as many, and at
// least four. The longer a row is read along, the faster.
func evenParts(blocks, most int) int {
	const least = 4 // so that no core waits long for another
	for parts := 1; parts < most; parts++ {
		if n := blocks * parts; n%cores() == 0 && n >= least*cores() {
			return parts
		}
	}
	return most
}

// alongCall is the sums of a product with few rows: calls share blocks of k, each cut into as many blocks of columns as
// there are across.
type alongCall[F Float] struct {
	path    path
	product product[F]
	weights matrix[F]
	sums    []F // (blocks,m,n)
	across  int
}

func (c alongCall[F]) do(lo, hi int) {
	m, n := c.product.m, c.product.n
	for i := lo; i < hi; i++ {
		l, j0, j1 := i/c.across, block(i%c.across, c.across, n), block(i%c.across+1, c.across, n)
		part := c.product.part(0, m, j0, j1)
		part.sumAlong(c.path, l, c.weights, c.sums[l*m*n+j0:], n)
	}
}
