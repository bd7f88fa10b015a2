package blas

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"pgregory.net/rapid"

	"attention/internal/kernel"
	_ "attention/internal/testenv"
)

// arguments are those of any function, by BLAS's names. Elements that a function must not read are NaN.
type arguments[F kernel.Float] struct {
	tA, tB                    blas.Transpose
	ul                        blas.Uplo
	d                         blas.Diag
	s                         blas.Side
	m, n, k                   int
	alpha, beta               F
	a, b, c, x, y             []F
	lda, ldb, ldc, incX, incY int
	result                    F
}

// function is a function of BLAS for both types of elements.
type function struct {
	name   string // without the letter of the type
	draw   func(d *drawer)
	solves bool // an equation: its error shows when it is put in
	single func(i blas.Float32, p *arguments[float32])
	double func(i blas.Float64, p *arguments[float64])
}

// functions are those that Implementation declares.
var functions = []function{
	{
		name: "gemm",
		draw: func(d *drawer) {
			d.a, d.lda = d.matrix(d.tA, d.m, d.k)
			d.b, d.ldb = d.matrix(d.tB, d.k, d.n)
			d.c, d.ldc = d.matrix(blas.NoTrans, d.m, d.n)
			d.overwritten(d.c)
		},
		single: func(i blas.Float32, p *arguments[float32]) {
			i.Sgemm(p.tA, p.tB, p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc)
		},
		double: func(i blas.Float64, p *arguments[float64]) {
			i.Dgemm(p.tA, p.tB, p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc)
		},
	},
	{
		name: "gemv",
		draw: func(d *drawer) {
			in, out := d.n, d.m
			if d.tA != blas.NoTrans {
				in, out = out, in
			}
			d.a, d.lda = d.matrix(blas.NoTrans, d.m, d.n)
			d.x, d.y = d.vector(in, d.incX), d.vector(out, d.incY)
			d.overwritten(d.y)
		},
		single: func(i blas.Float32, p *arguments[float32]) {
			i.Sgemv(p.tA, p.m, p.n, p.alpha, p.a, p.lda, p.x, p.incX, p.beta, p.y, p.incY)
		},
		double: func(i blas.Float64, p *arguments[float64]) {
			i.Dgemv(p.tA, p.m, p.n, p.alpha, p.a, p.lda, p.x, p.incX, p.beta, p.y, p.incY)
		},
	},
	{
		name: "ger",
		draw: func(d *drawer) {
			d.a, d.lda = d.matrix(blas.NoTrans, d.m, d.n)
			d.x, d.y = d.vector(d.m, d.incX), d.vector(d.n, d.incY)
		},
		single: func(i blas.Float32, p *arguments[float32]) {
			i.Sger(p.m, p.n, p.alpha, p.x, p.incX, p.y, p.incY, p.a, p.lda)
		},
		double: func(i blas.Float64, p *arguments[float64]) {
			i.Dger(p.m, p.n, p.alpha, p.x, p.incX, p.y, p.incY, p.a, p.lda)
		},
	},
	{
		name: "symv",
		draw: func(d *drawer) {
			d.a, d.lda = d.triangle(d.n, blas.NonUnit)
			d.x, d.y = d.vector(d.n, d.incX), d.vector(d.n, d.incY)
			d.overwritten(d.y)
		},
		single: func(i blas.Float32, p *arguments[float32]) {
			i.Ssymv(p.ul, p.n, p.alpha, p.a, p.lda, p.x, p.incX, p.beta, p.y, p.incY)
		},
		double: func(i blas.Float64, p *arguments[float64]) {
			i.Dsymv(p.ul, p.n, p.alpha, p.a, p.lda, p.x, p.incX, p.beta, p.y, p.incY)
		},
	},
	{
		name: "syr",
		draw: func(d *drawer) {
			d.a, d.lda = d.triangle(d.n, blas.NonUnit)
			d.x = d.vector(d.n, d.incX)
		},
		single: func(i blas.Float32, p *arguments[float32]) { i.Ssyr(p.ul, p.n, p.alpha, p.x, p.incX, p.a, p.lda) },
		double: func(i blas.Float64, p *arguments[float64]) { i.Dsyr(p.ul, p.n, p.alpha, p.x, p.incX, p.a, p.lda) },
	},
	{
		name: "syr2",
		draw: func(d *drawer) {
			d.a, d.lda = d.triangle(d.n, blas.NonUnit)
			d.x, d.y = d.vector(d.n, d.incX), d.vector(d.n, d.incY)
		},
		single: func(i blas.Float32, p *arguments[float32]) {
			i.Ssyr2(p.ul, p.n, p.alpha, p.x, p.incX, p.y, p.incY, p.a, p.lda)
		},
		double: func(i blas.Float64, p *arguments[float64]) {
			i.Dsyr2(p.ul, p.n, p.alpha, p.x, p.incX, p.y, p.incY, p.a, p.lda)
		},
	},
	{
		name: "trmv",
		draw: func(d *drawer) {
			d.a, d.lda = d.triangle(d.n, d.d)
			d.x = d.vector(d.n, d.incX)
		},
		single: func(i blas.Float32, p *arguments[float32]) { i.Strmv(p.ul, p.tA, p.d, p.n, p.a, p.lda, p.x, p.incX) },
		double: func(i blas.Float64, p *arguments[float64]) { i.Dtrmv(p.ul, p.tA, p.d, p.n, p.a, p.lda, p.x, p.incX) },
	},
	{
		name: "trsv", solves: true,
		draw: func(d *drawer) {
			d.a, d.lda = d.triangle(d.n, d.d)
			d.x = d.vector(d.n, d.incX)
		},
		single: func(i blas.Float32, p *arguments[float32]) { i.Strsv(p.ul, p.tA, p.d, p.n, p.a, p.lda, p.x, p.incX) },
		double: func(i blas.Float64, p *arguments[float64]) { i.Dtrsv(p.ul, p.tA, p.d, p.n, p.a, p.lda, p.x, p.incX) },
	},
	{
		name: "symm",
		draw: func(d *drawer) {
			d.a, d.lda = d.triangle(d.sideRows(), blas.NonUnit)
			d.b, d.ldb = d.matrix(blas.NoTrans, d.m, d.n)
			d.c, d.ldc = d.matrix(blas.NoTrans, d.m, d.n)
			d.overwritten(d.c)
		},
		single: func(i blas.Float32, p *arguments[float32]) {
			i.Ssymm(p.s, p.ul, p.m, p.n, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc)
		},
		double: func(i blas.Float64, p *arguments[float64]) {
			i.Dsymm(p.s, p.ul, p.m, p.n, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc)
		},
	},
	{
		name: "syrk",
		draw: func(d *drawer) {
			d.a, d.lda = d.matrix(d.tA, d.n, d.k)
			d.c, d.ldc = d.triangle(d.n, blas.NonUnit)
			d.overwritten(d.c)
		},
		single: func(i blas.Float32, p *arguments[float32]) {
			i.Ssyrk(p.ul, p.tA, p.n, p.k, p.alpha, p.a, p.lda, p.beta, p.c, p.ldc)
		},
		double: func(i blas.Float64, p *arguments[float64]) {
			i.Dsyrk(p.ul, p.tA, p.n, p.k, p.alpha, p.a, p.lda, p.beta, p.c, p.ldc)
		},
	},
	{
		name: "syr2k",
		draw: func(d *drawer) {
			d.a, d.lda = d.matrix(d.tA, d.n, d.k)
			d.b, d.ldb = d.matrix(d.tA, d.n, d.k)
			d.c, d.ldc = d.triangle(d.n, blas.NonUnit)
			d.overwritten(d.c)
		},
		single: func(i blas.Float32, p *arguments[float32]) {
			i.Ssyr2k(p.ul, p.tA, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc)
		},
		double: func(i blas.Float64, p *arguments[float64]) {
			i.Dsyr2k(p.ul, p.tA, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc)
		},
	},
	{
		name: "trmm",
		draw: drawTriangular,
		single: func(i blas.Float32, p *arguments[float32]) {
			i.Strmm(p.s, p.ul, p.tA, p.d, p.m, p.n, p.alpha, p.a, p.lda, p.b, p.ldb)
		},
		double: func(i blas.Float64, p *arguments[float64]) {
			i.Dtrmm(p.s, p.ul, p.tA, p.d, p.m, p.n, p.alpha, p.a, p.lda, p.b, p.ldb)
		},
	},
	{
		name: "trsm", solves: true,
		draw: drawTriangular,
		single: func(i blas.Float32, p *arguments[float32]) {
			i.Strsm(p.s, p.ul, p.tA, p.d, p.m, p.n, p.alpha, p.a, p.lda, p.b, p.ldb)
		},
		double: func(i blas.Float64, p *arguments[float64]) {
			i.Dtrsm(p.s, p.ul, p.tA, p.d, p.m, p.n, p.alpha, p.a, p.lda, p.b, p.ldb)
		},
	},
	{
		name: "dot", draw: drawVectors,
		single: func(i blas.Float32, p *arguments[float32]) { p.result = i.Sdot(p.n, p.x, p.incX, p.y, p.incY) },
		double: func(i blas.Float64, p *arguments[float64]) { p.result = i.Ddot(p.n, p.x, p.incX, p.y, p.incY) },
	},
	{
		name: "axpy", draw: drawVectors,
		single: func(i blas.Float32, p *arguments[float32]) { i.Saxpy(p.n, p.alpha, p.x, p.incX, p.y, p.incY) },
		double: func(i blas.Float64, p *arguments[float64]) { i.Daxpy(p.n, p.alpha, p.x, p.incX, p.y, p.incY) },
	},
	{
		name: "scal", draw: drawVectors,
		single: func(i blas.Float32, p *arguments[float32]) { i.Sscal(p.n, p.alpha, p.x, p.incX) },
		double: func(i blas.Float64, p *arguments[float64]) { i.Dscal(p.n, p.alpha, p.x, p.incX) },
	},
	{
		name: "nrm2", draw: drawVectors,
		single: func(i blas.Float32, p *arguments[float32]) { p.result = i.Snrm2(p.n, p.x, p.incX) },
		double: func(i blas.Float64, p *arguments[float64]) { p.result = i.Dnrm2(p.n, p.x, p.incX) },
	},
}

func drawTriangular(d *drawer) {
	d.a, d.lda = d.triangle(d.sideRows(), d.d)
	d.b, d.ldb = d.matrix(blas.NoTrans, d.m, d.n)
}

func drawVectors(d *drawer) { d.x, d.y = d.vector(d.n, d.incX), d.vector(d.n, d.incY) }

// drawer draws arguments. Numbers of single are exact in float32.
type drawer struct {
	arguments[float64]
	clean   *arguments[float64] // where NaN must be overwritten, numbers: gonum reads them
	r       *rand.Rand
	single  bool
	padding int
}

// newDrawer draws all but the matrices and vectors, of sizes up to most.
func newDrawer(t *rapid.T, single bool, most int) *drawer {
	size := rapid.OneOf(rapid.SampledFrom([]int{0, 1, 2, 3, 31, 33, 63, 65}), rapid.IntRange(0, most))
	factor := rapid.SampledFrom([]float64{0, 1, -0.5, 1.75})
	inc := rapid.SampledFrom([]int{1, 1, 2, -1, -3})
	d := &drawer{single: single, padding: rapid.SampledFrom([]int{0, 1, 7}).Draw(t, "padding")}
	transposes := rapid.SampledFrom([]blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans})
	d.tA, d.tB = transposes.Draw(t, "tA"), transposes.Draw(t, "tB")
	d.ul = rapid.SampledFrom([]blas.Uplo{blas.Upper, blas.Lower}).Draw(t, "ul")
	d.d = rapid.SampledFrom([]blas.Diag{blas.Unit, blas.NonUnit}).Draw(t, "d")
	d.s = rapid.SampledFrom([]blas.Side{blas.Left, blas.Right}).Draw(t, "s")
	d.m, d.n, d.k = size.Draw(t, "m"), size.Draw(t, "n"), size.Draw(t, "k")
	d.alpha, d.beta = factor.Draw(t, "alpha"), factor.Draw(t, "beta")
	d.incX, d.incY = inc.Draw(t, "incX"), inc.Draw(t, "incY")
	d.r = rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	return d
}

// sideRows returns the rows of the triangle that stands beside a matrix.
func (d *drawer) sideRows() int {
	if d.s == blas.Left {
		return d.m
	}
	return d.n
}

func (d *drawer) number() float64 {
	if v := d.r.NormFloat64(); !d.single {
		return v
	} else {
		return float64(float32(v))
	}
}

// matrix returns the memory of a matrix that is (rows,cols) after transposition. What is behind its rows is NaN.
func (d *drawer) matrix(trans blas.Transpose, rows, cols int) (data []float64, ld int) {
	if trans != blas.NoTrans {
		rows, cols = cols, rows
	}
	ld = max(cols, 1) + d.padding
	data = make([]float64, rows*ld+d.padding)
	for i := range data {
		data[i] = math.NaN()
		if i%ld < cols && i/ld < rows {
			data[i] = d.number()
		}
	}
	return data, ld
}

// triangle returns the memory of an (n,n) triangle. The other triangle is NaN, and so is a unit diagonal. What stands
// beside the diagonal is small enough for equations to be well conditioned.
func (d *drawer) triangle(n int, diag blas.Diag) (data []float64, ld int) {
	data, ld = d.matrix(blas.NoTrans, n, n)
	for i := range n {
		for j := range n {
			switch v := &data[i*ld+j]; {
			case i == j && diag == blas.Unit, i != j && (i < j) != (d.ul == blas.Upper):
				*v = math.NaN()
			case i == j:
				*v = math.Copysign(1+math.Abs(*v), *v)
				if d.single {
					*v = float64(float32(*v))
				}
			default:
				*v /= 64
			}
		}
	}
	return data, ld
}

// vector returns the memory of a vector. What is between its elements is NaN.
func (d *drawer) vector(n, inc int) []float64 {
	step := max(inc, -inc)
	data := make([]float64, max(0, (n-1)*step+1)+d.padding)
	for i := range data {
		data[i] = math.NaN()
		if i%step == 0 && i/step < n {
			data[i] = d.number()
		}
	}
	return data
}

// overwritten makes NaN of what β = 0 says not to read.
func (d *drawer) overwritten(data []float64) {
	if d.beta == 0 {
		d.clean = mapped(&d.arguments, same)
		for i := range data {
			data[i] = math.NaN()
		}
	}
}

// mapped returns p with f done to every number.
func mapped[F, G kernel.Float](p *arguments[F], f func(F) G) *arguments[G] {
	all := func(x []F) []G {
		y := make([]G, len(x))
		for i, v := range x {
			y[i] = f(v)
		}
		return y
	}
	return &arguments[G]{
		tA: p.tA, tB: p.tB, ul: p.ul, d: p.d, s: p.s, m: p.m, n: p.n, k: p.k, alpha: f(p.alpha), beta: f(p.beta),
		a: all(p.a), b: all(p.b), c: all(p.c), x: all(p.x), y: all(p.y), result: f(p.result),
		lda: p.lda, ldb: p.ldb, ldc: p.ldc, incX: p.incX, incY: p.incY,
	}
}

func same(v float64) float64           { return v }
func narrow(v float64) float32         { return float32(v) }
func widen(v float32) float64          { return float64(v) }
func (p *arguments[F]) outputs() [][]F { return [][]F{p.a, p.b, p.c, p.x, p.y, {p.result}} }

// run does f with the kernels and returns what it made of the arguments, and half the distance between 1 and the next
// number.
func (f *function) run(p *arguments[float64], single bool) (got *arguments[float64], eps float64) {
	if single {
		q := mapped(p, narrow)
		f.single(Implementation{}, q)
		return mapped(q, widen), 0x1p-24
	}
	q := mapped(p, same)
	f.double(Implementation{}, q)
	return q, 0x1p-53
}

// reference does f of float64 as gonum does.
func (f *function) reference(p *arguments[float64]) *arguments[float64] {
	q := mapped(p, same)
	if f.name == "ger" { // gonum's reads outside of vectors with negative increments
		turn(q.x, q.m, &q.incX)
		turn(q.y, q.n, &q.incY)
	}
	if f.name == "gemv" { // without assembly, gonum's clears what is behind y
		q.y = ending(q.tA, q.m, q.n, q.y, q.incY)
	}
	f.double(gonum.Implementation{}, q)
	q.y = append(q.y, p.y[len(q.y):]...)
	if f.name == "ger" {
		q.x, q.y = p.x, p.y
	}
	return q
}

// turn turns a vector with a negative increment around.
func turn(x []float64, n int, inc *int) {
	if *inc < 0 {
		*inc = -*inc
		slices.Reverse(x[:max(0, (n-1)**inc+1)])
	}
}
