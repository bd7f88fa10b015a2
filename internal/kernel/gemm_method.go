package kernel

import "attention/internal/simd"

// method is the way a product is computed. It depends on the shape alone, so that the bits of the result do not depend
// on how the work is divided.
type method uint8

const (
	byTiles method = iota
	byDots         // one column: products of the rows of A with a vector
	byScale        // nothing to multiply
	byRows         // few rows: B is read row by row
)

// manyColumns is the number of columns of B from which copying A pays, because A is read once per column panel.
const manyColumns = 2048

// someColumns is the number of columns from which copying A pays if its columns have a stride of half a page or more:
// tiles read each column of a block from another page then.
const someColumns = 256

// manyRows is the number of rows of A from which copying a panel of B pays if its rows have a stride of half a page or
// more: they are on many pages, and may compete for sets of the cache.
const manyRows = 128

// prepare chooses the method. A product with one row or column may be faster as Cᵀ = Bᵀ·Aᵀ; then A and B are exchanged.
// A stored B is exchanged only for products of its rows with a vector.
func (g *Product[F]) prepare() {
	if g.K == 0 {
		g.how = byScale
		return
	}
	if g.M == 1 && g.B.Col != 1 || g.N == 1 && g.A.Col != 1 && !g.B.stored() {
		g.M, g.N = g.N, g.M
		g.A, g.B, g.C = g.B.T(), g.A.T(), g.C.T()
	}
	if g.N == 1 && g.A.Col == 1 {
		g.how = byDots
		return
	}
	if g.readsAlong() {
		g.how = byRows
		return
	}
	g.packA = g.M >= 8 && g.K >= 8 && (g.N >= 16 && g.A.aliased() || g.N >= manyColumns ||
		g.N >= someColumns && g.A.Row == 1 && g.A.distance() >= page/2)
	g.packB = g.B.Col != 1 || g.M >= 24 && g.B.aliased() || g.M >= manyRows && g.B.distance() >= page/2
}

// part returns the rows [i0,i1) and columns [j0,j1) of product l of the batch.
func (g *Product[F]) part(l, i0, i1, j0, j1 int) Product[F] {
	p := *g
	p.M, p.N, p.diagonal = i1-i0, j1-j0, g.diagonal+i0-j0
	p.C = g.C.at(l*g.C.Step + i0*g.C.Row + j0*g.C.Col)
	if g.K > 0 {
		p.A, p.B = g.A.at(l*g.A.Step+i0*g.A.Row), g.B.at(l*g.B.Step+j0*g.B.Col)
	}
	return p
}

// compute computes the product with one goroutine.
func (g *Product[F]) compute() {
	switch g.how {
	case byScale:
		g.scale()
	case byDots:
		g.dots()
	case byRows:
		g.along()
	default:
		g.tiles()
	}
}

// scale sets C ← β·C, without reading C when β = 0.
func (g *Product[F]) scale() {
	if g.Beta == 1 {
		return
	}
	for i := range g.M {
		row := g.C.Data[i*g.C.Row:][:g.N]
		if g.Beta == 0 {
			clear(row)
			continue
		}
		for j := range row {
			row[j] *= g.Beta
		}
	}
}

// aliased reports whether the stride of x's rows (or columns, whichever are not contiguous) makes them compete for the
// same few sets of a first-level cache. Reading many of them side by side is then several times slower.
func (x *Matrix[F]) aliased() bool {
	const line = 32
	d := x.distance()
	return d >= page-line && (d+line)%page < 2*line
}

// page is the size of a page of memory in bytes.
const page = 4096

// distance returns the number of bytes between rows or, if that is larger, between columns.
func (x *Matrix[F]) distance() int { return max(x.Row, x.Col) * simd.SizeOf[F]() }

// workspace is memory for copied blocks, reused from call to call.
type workspace[F Float] struct{ a, b, wide []F }

var workspaces = newPools[workspace[float32], workspace[float64]]()

// room returns n elements of *s, which grows if it is too short. Their values are undefined. Large slices begin on a
// page, so room never makes a small one.
func room[F Float](s *[]F, n int) []F {
	const least = 1 << 13
	if cap(*s) < n {
		*s = make([]F, max(n, least))
	}
	return (*s)[:n]
}
