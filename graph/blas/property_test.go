package blas

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"pgregory.net/rapid"

	"attention/internal/exports"
)

// Every method that Implementation declares is in the table that the other tests go through.
func TestFunctionsAreComplete(t *testing.T) {
	dir, err := os.Getwd()
	require.NoError(t, err)
	declared, err := exports.Funcs(dir)
	require.NoError(t, err)
	var got, want []string
	for _, f := range declared {
		if f.Receiver == "Implementation" {
			got = append(got, f.Name)
		}
	}
	for _, f := range functions {
		want = append(want, "S"+f.name, "D"+f.name)
	}
	slices.Sort(got)
	slices.Sort(want)
	require.Equal(t, want, got)
}

// Results are gonum's float64 results up to the rounding of sums. Elements that must not be read are NaN, so that a
// read would show; nothing else is written.
func TestResultsAreGonums(t *testing.T) {
	for _, f := range functions {
		for _, single := range []bool{true, false} {
			name := fmt.Sprintf("%s/single=%v", f.name, single)
			t.Run(name, rapid.MakeCheck(func(t *rapid.T) { f.check(t, single, 80) }))
			t.Run(name+"/every size", func(t *testing.T) {
				everySize(t)
				rapid.Check(t, func(t *rapid.T) { f.check(t, single, 80) })
			})
		}
	}
}

// Sizes of several blocks, which random ones rarely have.
func TestLargeResultsAreGonums(t *testing.T) {
	for _, f := range functions {
		for _, single := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/single=%v", f.name, single), rapid.MakeCheck(func(t *rapid.T) {
				d := newDrawer(t, single, 0)
				large := rapid.SampledFrom([]int{1, 5, 96, 257, 301})
				d.m, d.n, d.k = large.Draw(t, "M"), large.Draw(t, "N"), large.Draw(t, "K")
				f.draw(d)
				f.compare(t, d)
			}))
		}
	}
}

func FuzzResults(f *testing.F) {
	everySize(f)
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		one := rapid.SampledFrom(functions).Draw(t, "function")
		one.check(t, rapid.Bool().Draw(t, "single"), 80)
	}))
}

func (f *function) check(t *rapid.T, single bool, most int) {
	d := newDrawer(t, single, most)
	f.draw(d)
	f.compare(t, d)
}

// compare runs f and compares its results with gonum's. Each element is a sum of at most m+n+k products, in any order,
// with a few more roundings; the same function of absolute values bounds the terms.
func (f *function) compare(t *rapid.T, d *drawer) {
	p := &d.arguments
	got, eps := f.run(p, d.single)
	if d.clean != nil {
		p = d.clean
	}
	roundings := 2 * float64(p.m+p.n+p.k+8) * eps
	var want, size *arguments[float64]
	if f.solves {
		want, size = put(t, f, p, got)
		got = f.putIn(got, p)
	} else {
		want, size = f.reference(p), f.reference(mapped(p, math.Abs))
	}
	for i, w := range want.outputs() {
		g, s := got.outputs()[i], size.outputs()[i]
		for at, v := range w {
			if before := d.arguments.outputs()[i][at]; d.clean != nil && v == d.clean.outputs()[i][at] {
				v = before // nothing to do
			}
			if math.IsNaN(v) != math.IsNaN(g[at]) || math.Abs(g[at]-v) > roundings*s[at] {
				t.Fatalf("argument %d, element %d: got %v, want %v within %g", i, at, g[at], v, roundings*s[at])
			}
		}
	}
}

// product is the function that multiplies the solution of f by its matrix.
func (f *function) product() *function {
	name := strings.Replace(f.name, "sm", "mm", 1)
	return &functions[slices.IndexFunc(functions, func(g function) bool { return g.name == name })]
}

// putIn returns op(A)·X for the solution X of an equation, without α.
func (f *function) putIn(solved, p *arguments[float64]) *arguments[float64] {
	q := mapped(solved, same)
	q.alpha = 1
	return f.product().reference(q)
}

// put returns the value that op(A)·X must have, α·B, and the bound |op(A)|·|X| + |α·B|.
func put(t *rapid.T, f *function, p, solved *arguments[float64]) (want, size *arguments[float64]) {
	want = mapped(p, same)
	for i := range want.b {
		want.b[i] *= p.alpha
	}
	size = f.putIn(mapped(solved, math.Abs), p)
	for i, v := range want.outputs() {
		for at, w := range v {
			size.outputs()[i][at] += math.Abs(w)
		}
	}
	return want, size
}

// For wrong arguments, gonum reports the error: with the same panic, or with none.
func TestBadArgumentsPanicAsGonums(t *testing.T) {
	panicked := map[string]bool{}
	for _, f := range functions {
		for _, single := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/single=%v", f.name, single), func(t *testing.T) {
				everySize(t)
				rapid.Check(t, func(t *rapid.T) {
					d := newDrawer(t, single, 40)
					f.draw(d)
					p := &d.arguments
					spoil(t, p)
					var got, want any
					if single {
						got = recovered(func() { f.single(Implementation{}, mapped(p, narrow)) })
						want = recovered(func() { f.single(gonum.Implementation{}, mapped(p, narrow)) })
					} else {
						got = recovered(func() { f.double(Implementation{}, mapped(p, same)) })
						want = recovered(func() { f.double(gonum.Implementation{}, mapped(p, same)) })
					}
					if fmt.Sprint(got) != fmt.Sprint(want) {
						t.Fatalf("got panic %v, want %v", got, want)
					}
					panicked[fmt.Sprint(want)] = true
				})
			})
		}
	}
	for _, want := range []string{
		"blas: m < 0", "blas: n < 0", "blas: k < 0", "blas: illegal triangle", "blas: illegal transpose",
		"blas: illegal diagonal", "blas: illegal side",
		"blas: bad leading dimension of A", "blas: bad leading dimension of B", "blas: bad leading dimension of C",
		"blas: insufficient length of a", "blas: insufficient length of b", "blas: insufficient length of c", "<nil>",
	} {
		require.True(t, panicked[want] || testing.Short(), "no arguments gave the panic %q", want)
	}
}

// spoil changes one of the arguments, perhaps two.
func spoil(t *rapid.T, p *arguments[float64]) {
	shorter := func(x *[]float64) func() {
		return func() { *x = (*x)[:rapid.IntRange(0, len(*x)).Draw(t, "length")] }
	}
	number := func(x *int, values ...int) func() {
		return func() { *x = rapid.SampledFrom(values).Draw(t, "number") }
	}
	ways := []func(){
		number(&p.m, -1, 41, 1000), number(&p.n, -1, 41, 1000), number(&p.k, -1, 41, 1000),
		number(&p.lda, -1, 0, 1, 1000), number(&p.ldb, -1, 0, 1, 1000), number(&p.ldc, -1, 0, 1, 1000),
		shorter(&p.a), shorter(&p.b), shorter(&p.c),
		func() { p.tA = 'X' }, func() { p.tB = 0 },
		func() { p.ul = blas.All }, func() { p.d = 'X' }, func() { p.s = 'X' },
	}
	for range rapid.IntRange(1, 2).Draw(t, "ways") {
		rapid.SampledFrom(ways).Draw(t, "way")()
	}
}

func recovered(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}
