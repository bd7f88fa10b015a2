package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"attention/internal/simd"
	"attention/internal/testenv"
)

// inGo returns the result of f in plain Go.
func inGo[T any](f func() T) T {
	before := simd.Use(simd.Go)
	defer simd.Use(before)
	return f()
}

// onPath runs the rest of the test on one path.
func onPath(t testing.TB, p simd.Set) {
	before := simd.Use(p)
	t.Cleanup(func() { simd.Use(before) })
}

// paths are all that this processor can run, plain Go first. Under the race detector, which sees the memory accesses of
// plain Go but not of assembly, they are plain Go and the best path.
func paths() []simd.Set {
	all := simd.Sets()
	if testenv.Race && len(all) > 2 {
		return []simd.Set{simd.Go, all[len(all)-1]}
	}
	return all
}

// problem is one random product.
type problem[F Float] struct {
	batch          int
	transA, transB bool
	m, n, k        int
	alpha, beta    F
	a, b, c        operand[F]
}

// operand is a batch of matrices in memory. Elements that belong to no matrix are guards and hold NaN.
type operand[F Float] struct {
	trans bool
	rows  int // as stored
	cols  int
	data  []F
	ld    int
	step  int // from one matrix to the next
}

// newOperand lays the stored matrices out with the given padding behind every row and matrix.
func newOperand[F Float](r *rand.Rand, batch int, trans bool, rows, cols, padding int, shared bool) operand[F] {
	if trans {
		rows, cols = cols, rows
	}
	o := operand[F]{trans: trans, rows: rows, cols: cols, ld: max(cols, 1) + padding}
	size := rows*o.ld + padding
	if !shared {
		o.step = size
		size = size*batch + padding
	}
	o.data = make([]F, size)
	for i := range o.data {
		o.data[i] = F(math.NaN())
	}
	o.each(batch, func(at int) { o.data[at] = F(r.NormFloat64()) })
	return o
}

// matrix returns the operand as a product reads it.
func (o *operand[F]) matrix() Matrix[F] {
	if o.trans {
		return Matrix[F]{Data: o.data, Row: 1, Col: o.ld, Step: o.step}
	}
	return Matrix[F]{Data: o.data, Row: o.ld, Col: 1, Step: o.step}
}

// each visits every element that belongs to a matrix.
func (o *operand[F]) each(batch int, f func(at int)) {
	for i := range batch {
		for row := range o.rows {
			for col := range o.cols {
				f(i*o.step + row*o.ld + col)
			}
		}
	}
}

// at returns the place of element (i,j) of matrix number l after transposition.
func (o *operand[F]) at(l, i, j int) int {
	if o.trans {
		i, j = j, i
	}
	return l*o.step + i*o.ld + j
}

func (p *problem[F]) String() string {
	return fmt.Sprintf("%d of %T transA=%v transB=%v m=%d n=%d k=%d alpha=%v beta=%v lda=%d ldb=%d ldc=%d steps %v %v %v",
		p.batch, p.alpha, p.transA, p.transB, p.m, p.n, p.k, p.alpha, p.beta, p.a.ld, p.b.ld, p.c.ld,
		p.a.step, p.b.step, p.c.step)
}

func (p *problem[F]) run() {
	if p.batch > 0 {
		Product[F]{M: p.m, N: p.n, K: p.k, Alpha: p.alpha, A: p.a.matrix(), B: p.b.matrix(), Beta: p.beta,
			C: p.c.matrix(), Batch: p.batch}.Compute()
	}
}

func newProblem[F Float](r *rand.Rand, batch int, transA, transB bool, m, n, k int, alpha, beta F,
	padding int) *problem[F] {
	share := func() bool { return batch > 1 && r.IntN(3) == 0 }
	return &problem[F]{
		batch: batch, transA: transA, transB: transB, m: m, n: n, k: k, alpha: alpha, beta: beta,
		a: newOperand[F](r, batch, transA, m, k, padding, share()),
		b: newOperand[F](r, batch, transB, k, n, padding, share()),
		c: newOperand[F](r, batch, false, m, n, padding, false),
	}
}

// check runs the problem and compares every element of C with a sum in float64 (for float64 operands too: its error is
// bounded in the same way). The error of a sum of k products in any order is below k·ε·Σ|a||b|; α adds one rounding,
// and β·C and the last sum one each. There are two computations, so the bound is doubled.
func (p *problem[F]) check(t *testing.T) {
	t.Helper()
	eps := 0x1p-24
	if simd.SizeOf[F]() == 8 {
		eps = 0x1p-53
	}
	before := append([]F(nil), p.c.data...)
	if p.beta == 0 {
		p.c.each(p.batch, func(at int) { p.c.data[at] = F(math.NaN()) })
	}
	p.run()
	mine := make([]bool, len(before))
	for l := range p.batch {
		for i := range p.m {
			for j := range p.n {
				sum, size := p.exact(l, i, j)
				at := p.c.at(l, i, j)
				mine[at] = true
				if p.beta != 0 {
					old := float64(p.beta) * float64(before[at])
					sum, size = sum+old, size+math.Abs(old)
				}
				got := float64(p.c.data[at])
				if d := math.Abs(got - sum); !(d <= 2*float64(p.k+3)*eps*size) {
					t.Fatalf("%v: C[%d](%d,%d) = %v, want %v within %g", p, l, i, j, got, sum, 2*float64(p.k+3)*eps*size)
				}
			}
		}
	}
	for at, v := range p.c.data {
		if !mine[at] && v == v {
			t.Fatalf("%v: wrote %v outside C at %d", p, v, at)
		}
	}
}

// exact returns α times the sum of the products of an element of C, and the sum of their sizes.
//
//go:norace
func (p *problem[F]) exact(l, i, j int) (sum, size float64) {
	if p.alpha == 0 {
		return 0, 0
	}
	for q := range p.k {
		x := float64(p.a.data[p.a.at(l, i, q)]) * float64(p.b.data[p.b.at(l, q, j)])
		sum += x
		size += math.Abs(x)
	}
	return sum * float64(p.alpha), size * math.Abs(float64(p.alpha))
}

// bothWays is no transposition and transposition.
var bothWays = []bool{false, true}

func testShapes[F Float](t *testing.T, p simd.Set) {
	r := rand.New(rand.NewPCG(1, uint64(p)))
	rows, lanes := simd.TileShape[F]()
	edges := []int{
		0, 1, 2, 3, 5, 7, rows - 1, rows, rows + 1, 2*rows + 3,
		lanes - 1, lanes, lanes + 1, 2*lanes - 1, 2 * lanes, 2*lanes + 1, 4*lanes + 3,
	}
	factors := []F{0, 1, -0.5}
	try := func(batch, m, n, k, padding int) {
		for _, transA := range bothWays {
			for _, transB := range bothWays {
				newProblem(r, batch, transA, transB, m, n, k, factors[r.IntN(3)], factors[r.IntN(3)], padding).check(t)
				newProblem(r, batch, transA, transB, m, n, k, 1, factors[r.IntN(3)], padding).check(t)
			}
		}
	}
	pick := func() int { return edges[r.IntN(len(edges))] }
	for range 150 {
		try(1, pick(), pick(), pick(), r.IntN(2)*r.IntN(9))
	}
	for range 40 {
		try(1, r.IntN(80), r.IntN(80), r.IntN(80), r.IntN(3))
		try(r.IntN(4)*(1+r.IntN(3))*(1+r.IntN(3)), r.IntN(20), r.IntN(20), r.IntN(20), r.IntN(3))
	}
	// Several blocks of k and of rows, single rows and columns over many blocks, and leading dimensions for which the
	// kernels copy (2048 and 4096 bytes, and near them).
	try(1, 13, 2*lanes+1, 2*blockK+1, 1)
	try(1, blockHeight[F]()+1, 37, 23, 0)
	try(1, 29, 41, 4096/simd.SizeOf[F](), 0)
	try(1, 4096/simd.SizeOf[F](), 43, 31, 0)
	try(1, 31, 2048/simd.SizeOf[F](), 43, 1)
	for _, long := range []int{257, 1031} {
		try(1, 1, long, 61, 1)
		try(1, long, 1, 61, 1)
		try(1, 1, 67, long, 1)
		try(1, 67, 1, long, 0)
	}
}

func TestGemm(t *testing.T) { onPaths(t, testShapes[float32], testShapes[float64]) }

// slowGo reports whether a path is plain Go under the race detector, which makes it ten times slower. All paths share
// their concurrent code, so it can be skipped unless it is the only path.
func slowGo(p simd.Set) bool { return p == simd.Go && testenv.Race && len(paths()) > 1 }

// onPaths runs a test of both types on every path that is not slowGo, as subtests.
func onPaths(t *testing.T, single, double func(t *testing.T, p simd.Set)) {
	for _, p := range paths() {
		if slowGo(p) {
			continue
		}
		run := func(name string, test func(t *testing.T, p simd.Set)) {
			t.Run(p.String()+"/"+name, func(t *testing.T) {
				onPath(t, p)
				test(t, p)
			})
		}
		run("float32", single)
		run("float64", double)
	}
}

// leavesOut reports whether -short leaves out a path: plain Go, if there is assembly.
func leavesOut(p simd.Set) bool { return testing.Short() && p == simd.Go && len(paths()) > 1 }

// skipPlainGo skips a test on a path that -short leaves out.
func skipPlainGo(t *testing.T, p simd.Set) {
	if leavesOut(p) {
		t.Skip("-short leaves out plain Go, which is many times slower")
	}
}

func TestGemmPanicsOnArgumentsThatDoNotFit(t *testing.T) {
	x := make([]float32, 6)
	huge := math.MaxInt
	for _, row := range []struct {
		want, reason string
		call         func()
	}{
		{
			want: "negative dimension",
			call: func() {
				Product[float32]{M: -1, N: 2, K: 3, Alpha: 1, A: Rows(x, 3), B: Rows(x, 2), C: Rows(x, 2)}.Compute()
			},
		},
		{
			want: "a: leading dimension",
			call: func() {
				Product[float32]{M: 2, N: 2, K: 3, Alpha: 1, A: Rows(x, 2), B: Rows(x, 2), C: Rows(x, 2)}.Compute()
			},
		},
		{
			want: "b: leading dimension", reason: "B is transposed",
			call: func() {
				Product[float32]{M: 2, N: 2, K: 3, Alpha: 1, A: Rows(x, 3), B: Transposed(x, 2), C: Rows(x, 2)}.Compute()
			},
		},
		{
			want: "a: slice is too short",
			call: func() {
				Product[float32]{M: 2, N: 2, K: 3, Alpha: 1, A: Rows(x[:5], 3), B: Rows(x, 2), C: Rows(x, 2)}.Compute()
			},
		},
		{
			want: "b: slice is too short",
			call: func() {
				Product[float32]{M: 2, N: 2, K: 3, Alpha: 1, A: Rows(x, 3), B: Rows(x, huge), C: Rows(x, 2)}.Compute()
			},
		},
		{
			want: "c: slice is too short",
			call: func() {
				Product[float32]{M: 2, N: 2, K: 3, Alpha: 1, A: Rows(x, 3), B: Rows(x, 2), C: Rows(x[:3], 2)}.Compute()
			},
		},
		{
			want: "b: negative stride",
			call: func() {
				Product[float32]{M: 1, N: 2, K: 1, Alpha: 1, A: Rows(x, 1).Every(1), B: Rows(x, 2).Every(-1),
					C: Rows(x, 2).Every(2), Batch: 2}.Compute()
			},
		},
		{
			want: "c: matrices of the batch",
			call: func() {
				Product[float32]{M: 1, N: 2, K: 1, Alpha: 1, A: Rows(x, 1).Every(1), B: Rows(x, 2).Every(1),
					C: Rows(x, 2).Every(0), Batch: 2}.Compute()
			},
		},
		{
			want: "c: elements of a row", reason: "C is transposed",
			call: func() {
				Product[float32]{M: 2, N: 2, K: 3, Alpha: 1, A: Rows(x, 3), B: Rows(x, 2), C: Transposed(x, 2)}.Compute()
			},
		},
		{
			want: "a: leading dimension", reason: "neither rows nor columns of A lie together",
			call: func() {
				Product[float32]{M: 1, N: 2, K: 3, Alpha: 1, A: Matrix[float32]{Data: x, Row: 6, Col: 2}, B: Rows(x, 2),
					C: Rows(x, 2)}.Compute()
			},
		},
		{
			want: "a: slice is too short", reason: "A is stored: only B may be",
			call: func() {
				Product[float32]{M: 2, N: 2, K: 3, Alpha: 1, A: StoredRows[float32](make([]uint16, 6), 3), B: Rows(x, 2),
					C: Rows(x, 2)}.Compute()
			},
		},
		{
			want: "a: slice is too short", reason: "the size of A overflows",
			call: func() {
				Product[float32]{M: huge, N: 1, K: 3, Alpha: 1, A: Rows(x, 3), B: Rows(x, 1), C: Rows(x, 1)}.Compute()
			},
		},
		{
			want: "c: slice is too short", reason: "the size of the batch overflows",
			call: func() {
				Product[float32]{M: 1, N: 1, K: 1, Alpha: 1, A: Rows(x, 1).Every(0), B: Rows(x, 1).Every(0),
					C: Rows(x, 1).Every(huge/2 + 1), Batch: huge}.Compute()
			},
		},
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.HasPrefix(got, "kernel: gemm: "+row.want) {
					t.Errorf("%s: got panic %q, want kernel: gemm: %s …", row.reason, got, row.want)
				}
			}()
			row.call()
		}()
	}
}
