package kernel

// The elements of A that one goroutine takes at least, and the columns that it takes at least where rows are added
// up: a page of each row, which the processor then reads ahead.
const (
	gemvGrain   = 1 << 15
	gemvColumns = 1 << 10
	gemvParts   = 16 // of the rows, where there are too few columns to share
)

// Gemv computes y ← α·op(A)·x + β·y for a row-major matrix A that is stored as (m,n) with lda elements from one row to
// the next. op leaves it, x has n elements and y m; or transposes it, x has m and y n. With β = 0, y is not read and
// may hold anything; with α = 0, A and x are not read. y must not overlap A or x. The bits of the result do not depend
// on GOMAXPROCS.
func Gemv[F Float](trans Transpose, m, n int, alpha F, a []F, lda int, x []F, beta F, y []F) {
	if min(m, n) < 0 {
		panic("kernel: gemv: negative dimension")
	}
	in, out := n, m
	if trans {
		in, out = m, n
	}
	if len(y) != out {
		fit("gemv: y", out, len(y))
	}
	if out == 0 {
		return
	}
	if in == 0 || alpha == 0 {
		scaleOnto(y, beta)
		return
	}
	if len(x) != in {
		fit("gemv: x", in, len(x))
	}
	checkRows("gemv: a", len(a), m, n, lda)
	if !trans {
		c := gemvCall[F]{alpha, beta, a, lda, x, y}
		if m*n < gemvGrain {
			c.do(0, m)
			return
		}
		split(c, m, rowGrain(gemvGrain, n))
		return
	}
	scaleOnto(y, beta)
	c := weighCall[F]{alpha: alpha, a: a, aRow: lda, x: x, y: y}
	if m*n < gemvGrain {
		c.do(0, n)
		return
	}
	if m*n < 2*gemvGrain || n >= 2*gemvColumns || m < 4*gemvParts {
		split(c, n, max(gemvColumns, gemvGrain/m))
		return
	}
	pool := poolOf[F](&workspaces)
	w := pool.Get().(*workspace[F])
	sums := room(&w.a, gemvParts*n)
	split(weighPartsCall[F]{c, sums}, gemvParts, max(1, gemvGrain*gemvParts/(m*n)))
	for i := range gemvParts {
		addRows(chosenPath, 1, n, y, y, sums[i*n:][:n])
	}
	pool.Put(w)
}

// checkRows is checkMatrix for one matrix with rows and columns.
func checkRows(name string, length, rows, cols, ld int) {
	if ld < cols || length < cols || rows-1 > (length-cols)/ld {
		checkMatrix(name, NoTrans, rows, cols, length, ld, 1, 0)
	}
}

// scaleOnto sets y ← β·y, without reading y when β = 0.
func scaleOnto[F Float](y []F, beta F) {
	switch beta {
	case 0:
		clear(y)
	case 1:
	default:
		scale(chosenPath, y, y, beta)
	}
}

// gemvCall is a call of Gemv that does not transpose A. Calls share the rows.
type gemvCall[F Float] struct {
	alpha, beta F
	a           []F
	aRow        int
	x, y        []F
}

func (c gemvCall[F]) do(lo, hi int) {
	var sums [32]F
	for ; lo < hi; lo += len(sums) {
		sums := sums[:min(len(sums), hi-lo)]
		dot(chosenPath, c.a[lo*c.aRow:], c.aRow, c.x, sums)
		y := c.y[lo:][:len(sums)]
		if c.beta == 0 {
			for i, s := range sums {
				y[i] = c.alpha * s
			}
			continue
		}
		for i, s := range sums {
			y[i] = c.alpha*s + c.beta*y[i]
		}
	}
}

// weighCall adds the rows of A, each with its weight, to y. Calls share the columns.
type weighCall[F Float] struct {
	alpha F
	a     []F
	aRow  int
	x, y  []F
}

func (c weighCall[F]) do(lo, hi int) {
	weigh(chosenPath, c.alpha, c.a[lo:], c.aRow, c.x, c.y[lo:hi])
}

// weighPartsCall adds the rows of each of gemvParts parts to sums of its own.
type weighPartsCall[F Float] struct {
	weighCall[F]
	sums []F
}

func (c weighPartsCall[F]) do(lo, hi int) {
	n := len(c.y)
	for i := lo; i < hi; i++ {
		begin, end := block(i, gemvParts, len(c.x)), block(i+1, gemvParts, len(c.x))
		sum := c.sums[i*n:][:n]
		clear(sum)
		weigh(chosenPath, c.alpha, c.a[begin*c.aRow:], c.aRow, c.x[begin:end], sum)
	}
}

func weighGo[F Float](alpha F, a []F, aRow int, x, y []F) {
	for i, v := range x {
		w := alpha * v
		row := a[i*aRow:][:len(y)]
		for j, v := range row {
			y[j] += w * v
		}
	}
}

// Ger computes A ← α·x·yᵀ + A for a row-major matrix A with a row for each element of x, lda elements from one to the
// next, and a column for each element of y. With α = 0, A is unchanged.
func Ger[F Float](alpha F, x, y, a []F, lda int) {
	m, n := len(x), len(y)
	if min(m, n) == 0 || alpha == 0 {
		return
	}
	checkRows("ger: a", len(a), m, n, lda)
	if m*n < gemvGrain {
		addOuter(chosenPath, m, n, lda, alpha, a, x, y)
		return
	}
	split(outerCall[F]{alpha, x, y, a, lda}, m, rowGrain(grainFast, n))
}

// outerCall is a call of Ger that shares the rows.
type outerCall[F Float] struct {
	alpha   F
	x, y, a []F
	aRow    int
}

func (c outerCall[F]) do(lo, hi int) {
	addOuter(chosenPath, hi-lo, len(c.y), c.aRow, c.alpha, c.a[lo*c.aRow:], c.x[lo:hi], c.y)
}

// Axpy computes y ← α·x + y for x and y of one length. With α = 0, y is unchanged.
func Axpy[F Float](alpha F, x, y []F) {
	fit("axpy", len(x), len(y))
	if alpha != 0 {
		split(axpyCall[F]{alpha, x, y}, len(x), grainFast)
	}
}

type axpyCall[F Float] struct {
	alpha F
	x, y  []F
}

func (c axpyCall[F]) do(lo, hi int) {
	one := [1]F{1}
	addOuter(chosenPath, 1, hi-lo, 0, c.alpha, c.y[lo:hi], one[:], c.x[lo:hi])
}

func addOuterGo[F Float](rows, n, ld int, alpha F, a, x, y []F) {
	for i := range rows {
		w := alpha * x[i]
		row := a[i*ld:][:n]
		for j, v := range y[:n] {
			row[j] += w * v
		}
	}
}
