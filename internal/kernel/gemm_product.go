package kernel

// matrix is a view of numbers in memory: element (i,j) is data[i·row+j·col].
type matrix[F Float] struct {
	data     []F
	row, col int
	stored   []uint16 // instead of data, in bfloat16: see GemmStored
}

// view is a stored matrix, or its transpose.
func view[F Float](trans Transpose, data []F, ld int) matrix[F] {
	if trans {
		return matrix[F]{data: data, row: 1, col: ld}
	}
	return matrix[F]{data: data, row: ld, col: 1}
}

// from returns the part of x that begins at element (i,j).
func (x *matrix[F]) from(i, j int) matrix[F] {
	part, at := *x, i*x.row+j*x.col
	if x.stored != nil {
		part.stored = x.stored[at:]
	} else {
		part.data = x.data[at:]
	}
	return part
}

func (x *matrix[F]) transposed() matrix[F] {
	return matrix[F]{data: x.data, row: x.col, col: x.row, stored: x.stored}
}

// aliased reports whether the rows (or columns, whichever lie apart) of x are so spaced that they compete for
// the same few places in a first-level cache. Reading many of them side by side is then several times slower.
func (x *matrix[F]) aliased() bool {
	const line = 32
	apart := x.apart()
	return apart >= page-line && (apart+line)%page < 2*line
}

// page is the size of a page of memory in bytes.
const page = 4096

// apart returns how many bytes lie between rows, or between columns where they lie further apart.
func (x *matrix[F]) apart() int { return max(x.row, x.col) * sizeOf[F]() }

// product is C ← α·A·B + β·C for A (m,k), B (k,n) and C (m,n). k = 0 stands for C ← β·C.
type product[F Float] struct {
	m, n, k     int
	alpha, beta F
	a, b, c     matrix[F]
	how         method
	packA       bool // copy A to where tiles read it well
	packB       bool // the same for whole panels of B; the last, narrow one is always copied
	upper       bool // whether only the panels of C's columns down to the diagonal are computed
	diagonal    int  // columns from the first one to that in which the diagonal crosses the first row, or fewer than 0
}

// method is the way a product is computed. It follows from the shape alone, so that the bits of the result do
// not depend on how the work is divided.
type method uint8

const (
	byTiles method = iota
	byDots         // one column: products of the rows of A with a vector
	byScale        // nothing to multiply
	byRows         // few rows: B is read along its rows
)

// manyColumns is how many columns of B make it worth to copy A: it is then read that often.
const manyColumns = 2048

// someColumns is how many of them make it worth to copy an A whose columns lie half a page or more apart: tiles take
// each column of a block from another page then.
const someColumns = 256

// manyRows is how many rows of A make it worth to copy a panel of B whose rows lie in pages of their own.
const manyRows = 128

// prepare chooses the method. A product with one row or column may be better computed as Cᵀ = Bᵀ·Aᵀ; then A
// and B have changed places.
func (g *product[F]) prepare() (swapped bool) {
	if g.k == 0 {
		g.how = byScale
		return false
	}
	if swapped = g.m == 1 && g.b.col != 1 || g.n == 1 && g.a.col != 1; swapped {
		g.m, g.n = g.n, g.m
		g.a, g.b, g.c = g.b.transposed(), g.a.transposed(), g.c.transposed()
	}
	if g.n == 1 && g.a.col == 1 {
		g.how = byDots
		return swapped
	}
	if g.readsAlong() {
		g.how = byRows
		return swapped
	}
	g.packA = g.m >= 8 && g.k >= 8 && (g.n >= 16 && g.a.aliased() || g.n >= manyColumns ||
		g.n >= someColumns && g.a.row == 1 && g.a.apart() >= page/2)
	g.packB = g.b.col != 1 || g.m >= 24 && g.b.aliased() || g.m >= manyRows && g.b.apart() >= page
	return swapped
}

// part returns the rows [i0,i1) and columns [j0,j1) of the product.
func (g *product[F]) part(i0, i1, j0, j1 int) product[F] {
	p := *g
	p.m, p.n, p.diagonal = i1-i0, j1-j0, g.diagonal+i0-j0
	p.c = g.c.from(i0, j0)
	if g.k > 0 {
		p.a, p.b = g.a.from(i0, 0), g.b.from(0, j0)
	}
	return p
}

// compute does the product with one goroutine.
func (g *product[F]) compute(p path) {
	switch g.how {
	case byScale:
		g.scale()
	case byDots:
		g.dots(p)
	case byRows:
		g.along(p)
	default:
		g.tiles(p)
	}
}

// scale sets C ← β·C, without reading C when β = 0.
func (g *product[F]) scale() {
	if g.beta == 1 {
		return
	}
	for i := range g.m {
		row := g.c.data[i*g.c.row:][:g.n]
		if g.beta == 0 {
			clear(row)
			continue
		}
		for j := range row {
			row[j] *= g.beta
		}
	}
}

// workspace is memory for copied blocks, reused from call to call.
type workspace[F Float] struct{ a, b, wide []F }

var workspaces = newPools[workspace[float32], workspace[float64]]()

// room returns n elements of *s, which grows if it must. What they hold is left over from before. Large
// slices begin on a page, so a small one is never made.
func room[F Float](s *[]F, n int) []F {
	const least = 1 << 13
	if cap(*s) < n {
		*s = make([]F, max(n, least))
	}
	return (*s)[:n]
}
