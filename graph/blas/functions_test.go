package blas

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"pgregory.net/rapid"

	"attention/internal/kernel"
	_ "attention/internal/testenv"
)

// arguments holds the arguments of any BLAS function, by BLAS's names. Elements that a function must not read are NaN.
type arguments[F kernel.Float] struct {
	tA, tB        blas.Transpose
	ul            blas.Uplo
	d             blas.Diag
	s             blas.Side
	m, n, k       int
	alpha, beta   F
	a, b, c       []F
	lda, ldb, ldc int
}

// function is a function of BLAS for both types of elements.
type function struct {
	name   string // without the letter of the type
	draw   func(d *drawer)
	solves bool // an equation: the test multiplies the solution back to see its error
	single func(i blas.Float32, p *arguments[float32])
	double func(i blas.Float64, p *arguments[float64])
}

// functions are the functions that Implementation declares.
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
}

func drawTriangular(d *drawer) {
	d.a, d.lda = d.triangle(d.sideRows(), d.d)
	d.b, d.ldb = d.matrix(blas.NoTrans, d.m, d.n)
}

// drawer draws arguments. With single, the numbers are exact in float32.
type drawer struct {
	arguments[float64]
	clean   *arguments[float64] // numbers in place of NaN where elements are overwritten: gonum reads them
	r       *rand.Rand
	single  bool
	padding int
}

// newDrawer draws everything except the matrices; sizes are at most most.
func newDrawer(t *rapid.T, single bool, most int) *drawer {
	size := rapid.OneOf(rapid.SampledFrom([]int{0, 1, 2, 3, 31, 33, 63, 65}), rapid.IntRange(0, most))
	factor := rapid.SampledFrom([]float64{0, 1, -0.5, 1.75})
	d := &drawer{single: single, padding: rapid.SampledFrom([]int{0, 1, 7}).Draw(t, "padding")}
	transposes := rapid.SampledFrom([]blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans})
	d.tA, d.tB = transposes.Draw(t, "tA"), transposes.Draw(t, "tB")
	d.ul = rapid.SampledFrom([]blas.Uplo{blas.Upper, blas.Lower}).Draw(t, "ul")
	d.d = rapid.SampledFrom([]blas.Diag{blas.Unit, blas.NonUnit}).Draw(t, "d")
	d.s = rapid.SampledFrom([]blas.Side{blas.Left, blas.Right}).Draw(t, "s")
	d.m, d.n, d.k = size.Draw(t, "m"), size.Draw(t, "n"), size.Draw(t, "k")
	d.alpha, d.beta = factor.Draw(t, "alpha"), factor.Draw(t, "beta")
	d.r = rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	return d
}

// sideRows returns the rows of the triangular matrix that multiplies another one.
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

// matrix returns the memory of a matrix that is (rows,cols) after transposition. Elements behind its rows are NaN.
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

// triangle returns the memory of an (n,n) triangle. The other triangle is NaN, and so is a unit diagonal. Elements
// beside the diagonal are small enough for the equations to be well conditioned.
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

// overwritten sets the elements to NaN that β = 0 says not to read.
func (d *drawer) overwritten(data []float64) {
	if d.beta == 0 {
		d.clean = mapped(&d.arguments, same)
		for i := range data {
			data[i] = math.NaN()
		}
	}
}

// mapped returns p with f applied to every number.
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
		a: all(p.a), b: all(p.b), c: all(p.c), lda: p.lda, ldb: p.ldb, ldc: p.ldc,
	}
}

func same(v float64) float64           { return v }
func narrow(v float64) float32         { return float32(v) }
func widen(v float32) float64          { return float64(v) }
func (p *arguments[F]) outputs() [][]F { return [][]F{p.a, p.b, p.c} }

// run calls f with the kernels and returns the resulting arguments, and half the distance between 1 and the next
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

// reference calls f with gonum in float64.
func (f *function) reference(p *arguments[float64]) *arguments[float64] {
	q := mapped(p, same)
	f.double(gonum.Implementation{}, q)
	return q
}
