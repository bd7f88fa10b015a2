package kernel

// What one goroutine takes at least of B in a product with one row: its elements, and its columns, since the processor reads ahead along a row.
const (
	oneRowWork    = 1 << 16
	oneRowColumns = 384
)

// oneRow computes a product with one row: the sum of B's rows, each with its weight in A. They are read along, where
// tiles go down a few columns at a time. It adds in the order of tiles, block by block of k: the bits are the same.
func (g *product[F]) oneRow(p path) {
	pool := poolOf[F](&workspaces)
	w := pool.Get().(*workspace[F])
	c, weights, sum := g.c.data[:g.n], g.oneRowWeights(w), room(&w.b, g.n)
	for l := range kBlocks(g.k) {
		if l == 0 && g.beta == 0 {
			g.sumOneRow(p, l, weights, c)
			continue
		}
		g.sumOneRow(p, l, weights, sum)
		addRows(p, 1, g.n, c, c, sum)
	}
	pool.Put(w)
}

// oneRowWeights returns the row of A, whose elements lie together.
func (g *product[F]) oneRowWeights(w *workspace[F]) []F {
	if g.a.col == 1 {
		return g.a.data[:g.k]
	}
	weights := room(&w.a, g.k)
	for i := range weights {
		weights[i] = g.a.data[i*g.a.col]
	}
	return weights
}

// sumOneRow writes the sum over block l of k.
func (g *product[F]) sumOneRow(p path, l int, weights, sum []F) {
	blocks := kBlocks(g.k)
	k0, k1 := block(l, blocks, g.k), block(l+1, blocks, g.k)
	clear(sum)
	weigh(p, 1, g.b.data[k0*g.b.row:], g.b.row, weights[k0:k1], sum)
}

// shareOneRow is oneRow on several goroutines, each with blocks of k and of columns of its own.
func (g *product[F]) shareOneRow(p path) {
	blocks := kBlocks(g.k)
	across := min(max(1, g.n/oneRowColumns), max(1, g.k*g.n/oneRowWork/blocks))
	pool := poolOf[F](&workspaces)
	w := pool.Get().(*workspace[F])
	sums := room(&w.b, blocks*g.n)
	split(oneRowCall[F]{p, *g, g.oneRowWeights(w), sums, across}, blocks*across, 1)
	c := g.c.data[:g.n]
	for l := range blocks {
		if sum := sums[l*g.n:][:g.n]; l == 0 && g.beta == 0 {
			copy(c, sum)
		} else {
			addRows(p, 1, g.n, c, c, sum)
		}
	}
	pool.Put(w)
}

// oneRowCall is the sums of a product with one row: calls share blocks of k, each cut into as many blocks of columns as
// there are across.
type oneRowCall[F Float] struct {
	path          path
	product       product[F]
	weights, sums []F
	across        int
}

func (c oneRowCall[F]) do(lo, hi int) {
	for i := lo; i < hi; i++ {
		l, j0, j1 := i/c.across, block(i%c.across, c.across, c.product.n), block(i%c.across+1, c.across, c.product.n)
		part := c.product.part(0, 1, j0, j1)
		part.sumOneRow(c.path, l, c.weights, c.sums[l*c.product.n:][j0:j1])
	}
}
