package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// onPath runs the rest of the test on one path.
func onPath(t testing.TB, p path) {
	before := chosenPath
	chosenPath = p
	t.Cleanup(func() { chosenPath = before })
}

// paths are all that this processor can run.
func paths() []path {
	var all []path
	for p := range bestPath() + 1 {
		all = append(all, p)
	}
	return all
}

// problem is one random call of GemmBatch.
type problem[F Float] struct {
	batch          Batch
	transA, transB Transpose
	m, n, k        int
	alpha, beta    F
	a, b, c        operand[F]
}

// operand is a batch of matrices in memory. What belongs to no matrix is a guard and holds NaN.
type operand[F Float] struct {
	trans Transpose
	rows  int // as stored
	cols  int
	data  []F
	ld    int
	step  Strides
}

// newOperand lays the stored matrices out with the given padding behind every row, matrix and level.
func newOperand[F Float](r *rand.Rand, batch Batch, trans Transpose, rows, cols, padding int, shared [3]bool) operand[F] {
	if trans {
		rows, cols = cols, rows
	}
	o := operand[F]{trans: trans, rows: rows, cols: cols, ld: max(cols, 1) + padding}
	size := rows*o.ld + padding
	for l := 2; l >= 0; l-- {
		if !shared[l] {
			o.step[l] = size
			size = size*batch[l] + padding
		}
	}
	o.data = make([]F, size)
	for i := range o.data {
		o.data[i] = F(math.NaN())
	}
	o.each(batch, func(at int) { o.data[at] = F(r.NormFloat64()) })
	return o
}

// each visits every element that belongs to a matrix.
func (o *operand[F]) each(batch Batch, f func(at int)) {
	for i := range batch[0] * batch[1] * batch[2] {
		for row := range o.rows {
			for col := range o.cols {
				f(o.step.offset(batch, i) + row*o.ld + col)
			}
		}
	}
}

// at is the place of element (i,j) of matrix number l after transposition.
func (o *operand[F]) at(batch Batch, l, i, j int) int {
	if o.trans {
		i, j = j, i
	}
	return o.step.offset(batch, l) + i*o.ld + j
}

func (p *problem[F]) String() string {
	return fmt.Sprintf("%v %T transA=%v transB=%v m=%d n=%d k=%d alpha=%v beta=%v lda=%d ldb=%d ldc=%d steps %v %v %v", p.batch, p.alpha,
		p.transA, p.transB, p.m, p.n, p.k, p.alpha, p.beta, p.a.ld, p.b.ld, p.c.ld, p.a.step, p.b.step, p.c.step)
}

func (p *problem[F]) run() {
	GemmBatch(p.batch, p.transA, p.transB, p.m, p.n, p.k, p.alpha, p.a.data, p.a.ld, p.a.step, p.b.data, p.b.ld, p.b.step,
		p.beta, p.c.data, p.c.ld, p.c.step)
}

func newProblem[F Float](r *rand.Rand, batch Batch, transA, transB Transpose, m, n, k int, alpha, beta F, padding int) *problem[F] {
	share := func() (s [3]bool) {
		for l := range s {
			s[l] = batch[l] > 1 && r.IntN(3) == 0
		}
		return
	}
	return &problem[F]{
		batch: batch, transA: transA, transB: transB, m: m, n: n, k: k, alpha: alpha, beta: beta,
		a: newOperand[F](r, batch, transA, m, k, padding, share()),
		b: newOperand[F](r, batch, transB, k, n, padding, share()),
		c: newOperand[F](r, batch, NoTrans, m, n, padding, [3]bool{}),
	}
}

// check runs the problem and compares every element of C with a sum in float64 (for float64 operands too: its
// error is bounded in the same way). However a sum of k products is ordered, its error is below
// k·ε·Σ|a||b|; α adds one rounding, β·C and the last sum one each. Two computations, so twice that.
func (p *problem[F]) check(t *testing.T) {
	t.Helper()
	eps := 0x1p-24
	if sizeOf[F]() == 8 {
		eps = 0x1p-53
	}
	before := append([]F(nil), p.c.data...)
	if p.beta == 0 {
		p.c.each(p.batch, func(at int) { p.c.data[at] = F(math.NaN()) })
	}
	p.run()
	mine := make([]bool, len(before))
	for l := range p.batch[0] * p.batch[1] * p.batch[2] {
		for i := range p.m {
			for j := range p.n {
				var sum, size float64
				if p.alpha != 0 {
					for q := range p.k {
						x := float64(p.a.data[p.a.at(p.batch, l, i, q)]) * float64(p.b.data[p.b.at(p.batch, l, q, j)])
						sum += x
						size += math.Abs(x)
					}
				}
				at := p.c.at(p.batch, l, i, j)
				mine[at] = true
				sum, size = sum*float64(p.alpha), size*math.Abs(float64(p.alpha))
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

// bothWays is no transposition and transposition.
var bothWays = []Transpose{NoTrans, Trans}

func testShapes[F Float](t *testing.T, p path) {
	onPath(t, p)
	r := rand.New(rand.NewPCG(1, uint64(p)))
	rows, lanes := tileShape[F](p)
	edges := []int{0, 1, 2, 3, 5, 7, rows - 1, rows, rows + 1, 2*rows + 3, lanes - 1, lanes, lanes + 1, 2*lanes - 1, 2 * lanes, 2*lanes + 1, 4*lanes + 3}
	factors := []F{0, 1, -0.5}
	try := func(batch Batch, m, n, k, padding int) {
		for _, transA := range bothWays {
			for _, transB := range bothWays {
				newProblem(r, batch, transA, transB, m, n, k, factors[r.IntN(3)], factors[r.IntN(3)], padding).check(t)
				newProblem(r, batch, transA, transB, m, n, k, 1, factors[r.IntN(3)], padding).check(t)
			}
		}
	}
	one := Batch{1, 1, 1}
	pick := func() int { return edges[r.IntN(len(edges))] }
	for range 150 {
		try(one, pick(), pick(), pick(), r.IntN(2)*r.IntN(9))
	}
	for range 40 {
		try(one, r.IntN(80), r.IntN(80), r.IntN(80), r.IntN(3))
		try(Batch{r.IntN(4), 1 + r.IntN(3), 1 + r.IntN(3)}, r.IntN(20), r.IntN(20), r.IntN(20), r.IntN(3))
	}
	// Several blocks of k, of rows, single rows and columns over many blocks, and leading dimensions that
	// make the kernels copy (2048 and 4096 bytes, and near them).
	try(one, 13, 2*lanes+1, 2*blockK+1, 1)
	try(one, maxRows[F]()+1, 37, 23, 0)
	try(one, 29, 41, 4096/sizeOf[F](), 0)
	try(one, 4096/sizeOf[F](), 43, 31, 0)
	try(one, 31, 2048/sizeOf[F](), 43, 1)
	for _, long := range []int{257, 1031} {
		try(one, 1, long, 61, 1)
		try(one, long, 1, 61, 1)
		try(one, 1, 67, long, 1)
		try(one, 67, 1, long, 0)
	}
}

func TestGemm(t *testing.T) {
	for _, p := range paths() {
		t.Run(p.String()+"/float32", func(t *testing.T) { testShapes[float32](t, p) })
		t.Run(p.String()+"/float64", func(t *testing.T) { testShapes[float64](t, p) })
	}
}

// setProcs runs the rest of the test with n processors.
func setProcs(t testing.TB, n int) {
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}
