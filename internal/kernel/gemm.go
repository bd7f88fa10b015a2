package kernel

import "attention/internal/simd"

// Matrix is a matrix in memory, or the first of a batch: element (i,j) of matrix l is Data[l·Step+i·Row+j·Col], and Row
// or Col is 1.
type Matrix[F Float] struct {
	Data           []F
	Row, Col, Step int
	Stored         []uint16 // replaces Data: numbers in bfloat16, the upper halves of float32s; only for B of a Product
	Blocks         *Blocks  // replaces Data: quantised numbers; only for B of a Product
	first          int      // index of the first element in Blocks
}

// Rows returns a row-major matrix whose rows have the stride ld.
func Rows[F Float](data []F, ld int) Matrix[F] { return Matrix[F]{Data: data, Row: ld, Col: 1} }

// Transposed returns the transpose of Rows(data, ld).
func Transposed[F Float](data []F, ld int) Matrix[F] {
	return Matrix[F]{Data: data, Row: 1, Col: ld}
}

// StoredRows is Rows of numbers stored in bfloat16.
func StoredRows[F Float](data []uint16, ld int) Matrix[F] {
	return Matrix[F]{Stored: data, Row: ld, Col: 1}
}

// T returns the transpose of x, in the same memory.
func (x Matrix[F]) T() Matrix[F] {
	x.Row, x.Col = x.Col, x.Row
	return x
}

// Op returns x, or its transpose.
func (x Matrix[F]) Op(trans bool) Matrix[F] {
	if trans {
		return x.T()
	}
	return x
}

// Every returns x as the first matrix of a batch with the stride step; a step of 0 shares one matrix.
func (x Matrix[F]) Every(step int) Matrix[F] {
	x.Step = step
	return x
}

// from returns the part of x that begins at element (i,j).
func (x *Matrix[F]) from(i, j int) Matrix[F] { return x.at(i*x.Row + j*x.Col) }

// at returns the part of x that begins at a place in its memory.
func (x *Matrix[F]) at(place int) Matrix[F] {
	part := *x
	switch {
	case x.Stored != nil:
		part.Stored = x.Stored[place:]
	case x.Blocks != nil:
		part.first += place
	default:
		part.Data = x.Data[place:]
	}
	return part
}

// Precision is how the operands of products of float32 are read. Sums, results and everything else stay float32.
type Precision uint8

const (
	Full     Precision = iota // of the operands' own type
	BFloat16                  // rounded to bfloat16, the upper half of a float32
)

// String returns "full" or "bf16".
func (p Precision) String() string {
	if p == BFloat16 {
		return "bf16"
	}
	return "full"
}

// Product is C ← α·A·B + β·C for matrices A (M,K), B (K,N) and C (M,N), or for each of a batch. With Alpha = 0 or
// K = 0, A and B are not read; with Beta = 0, C is not read and may hold anything. The rows of C are
// contiguous. C overlaps neither A nor B nor another C of the batch. The bits of the result do not depend on
// GOMAXPROCS.
//
// In BFloat16, which is for float32, the products of numbers are exact, and sums are rounded to float32 as VDPBF16PS
// does: of two neighbours along K the second is added first, and numbers below the smallest normal one become 0. Plain
// Go computes the same where the instruction is missing. All processors give the same bits, those of NaN excepted.
//
// A stored B is widened where it is copied or multiplied; the bits are those of widening all of it first. A single row
// is limited by reading B from memory: in BFloat16 the row is rounded, and the product is that of Full.
type Product[F Float] struct {
	M, N, K   int
	Alpha     F
	A, B      Matrix[F]
	Beta      F
	C         Matrix[F]
	Batch     int // 0 means 1
	Precision Precision
	symmetric bool // C is symmetric before and after; the part below the diagonal's panels is copied
	diagonal  int  // the column in which the diagonal of a symmetric C crosses the first row; negative left of it
	how       method
	packA     bool // whether A is copied to a layout that tiles read fast
	packB     bool // the same for whole panels of B; the last, narrow panel is always copied
}

// Compute computes the product on all cores.
func (g Product[F]) Compute() {
	if single, ok := any(&g).(*Product[float32]); ok {
		computeSingle(single)
	} else {
		computeDouble(any(&g).(*Product[float64]))
	}
}

// computeSingle and computeDouble are compiled in this package alone, as are the functions of compiled: an interface of
// them would have g on the heap.
func computeSingle(g *Product[float32]) { g.onAllCores() }
func computeDouble(g *Product[float64]) { g.onAllCores() }

func (g *Product[F]) onAllCores() {
	if !g.check() {
		return
	}
	oneRow := g.B.stored() && g.M == 1 && g.K > 0
	switch {
	case oneRow:
		for i := range g.Batch {
			g.computeStoredRow(i)
		}
	case g.Precision == BFloat16 && g.K > 0:
		g.computePairs()
	default:
		g.prepare()
		g.symmetric = g.symmetric && g.how == byTiles
		g.share()
		if g.symmetric {
			g.mirror()
		}
	}
}

// mirror copies the elements right of the diagonal's panels to the places below them.
func (g *Product[F]) mirror() {
	c, ld := g.C.Data, g.C.Row
	width := simd.TileWidth[F]()
	for j := 0; j+width < g.N; j += width {
		end := j + width
		simd.TransposePanel(g.N-end, width, c[j*ld+end:], ld, c[end*ld+j:], ld)
	}
}

// alone computes a product without a batch, in Full, in the calling goroutine. It does not check that the matrices fit.
func (g *Product[F]) alone() {
	if g.M == 0 || g.N == 0 {
		return
	}
	rows, lanes := simd.TileShape[F]()
	if g.M > fewRows && g.N%lanes == 0 && 0 < g.K && g.K <= blockK &&
		g.B.Col == 1 && !g.A.aliased() && !g.B.aliased() &&
		g.B.distance() < page {
		// The same result as the steps below, but faster for small products.
		for j := 0; j < g.N; j += 2 * lanes {
			simd.Tile(g.M, min(2*lanes, g.N-j), g.K, g.Alpha, g.A.Data, g.A.Row, g.A.Col, rows*g.A.Row,
				g.B.Data[j:], g.B.Row, g.Beta, g.C.Data[j:], g.C.Row)
		}
		return
	}
	g.prepare()
	g.compute()
}

// check panics unless the matrices are inside their slices, and reports whether C has elements.
func (g *Product[F]) check() bool {
	if min(g.Batch, g.M, g.N, g.K) < 0 {
		panic("kernel: gemm: negative dimension")
	}
	g.Batch = max(g.Batch, 1)
	if g.Alpha == 0 {
		g.K = 0
	}
	if g.M == 0 || g.N == 0 {
		return false
	}
	if g.K > 0 {
		b := len(g.B.Data)
		if g.B.stored() && simd.SizeOf[F]() == 4 {
			b = len(g.B.Stored) + g.B.Blocks.count()
		}
		g.A.check("gemm: a", len(g.A.Data), g.M, g.K, g.Batch)
		g.B.check("gemm: b", b, g.K, g.N, g.Batch)
	}
	g.C.check("gemm: c", len(g.C.Data), g.M, g.N, g.Batch)
	switch {
	case g.C.Col != 1:
		panic("kernel: gemm: c: elements of a row are not contiguous")
	case g.Batch > 1 && g.C.Step == 0:
		panic("kernel: gemm: c: matrices of the batch share memory")
	}
	return true
}

// check panics unless every matrix of a batch is inside a slice of the given length.
func (x *Matrix[F]) check(name string, length, rows, cols, batch int) {
	ld := x.Row
	if x.Col != 1 || ld < cols { // columns are contiguous
		ld, rows, cols = x.Col, cols, rows
	}
	if ld < cols || x.Row != 1 && x.Col != 1 {
		panic("kernel: " + name + ": leading dimension is shorter than a row")
	}
	checkSteps(name, length, cols, []int{batch, rows}, []int{x.Step, ld})
}
