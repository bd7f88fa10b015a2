package blas

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/blas"
)

// ways are combinations of the flags' values; each flag has two.
const ways = 4

// given returns the arguments of a function, all of one size, with the flags of one of the ways.
func (f *function) given(n, way int, single bool) *arguments[float64] {
	d := &drawer{single: single, r: rand.New(rand.NewPCG(uint64(n), uint64(way))), padding: way}
	d.tA, d.tB, d.ul, d.d, d.s = blas.NoTrans, blas.NoTrans, blas.Upper, blas.NonUnit, blas.Left
	if way&1 != 0 {
		d.tA, d.ul = blas.Trans, blas.Lower
	}
	if way&2 != 0 {
		d.tB, d.s, d.d = blas.Trans, blas.Right, blas.Unit
	}
	d.m, d.n, d.k, d.alpha, d.beta = n, n, n, 0.5, 0.25
	f.draw(d)
	return &d.arguments
}

// setProcs sets GOMAXPROCS to n for the rest of the test.
func setProcs(t testing.TB, n int) {
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// eachCall calls do for every function, type and way.
func eachCall(do func(name string, f *function, way int, single bool)) {
	for i := range functions {
		for way := range ways {
			for _, single := range []bool{true, false} {
				do(fmt.Sprintf("%s/way=%d/single=%v", functions[i].name, way, single), &functions[i], way, single)
			}
		}
	}
}

func requireSameBits(t *testing.T, name string, want, got *arguments[float64]) {
	t.Helper()
	for i, w := range want.outputs() {
		require.True(t, sameNumbers(w, got.outputs()[i]), "%s: argument %d has other bits", name, i)
	}
}

// sameNumbers reports whether two slices are equal. NaN marks elements that nothing writes; it is equal to itself.
func sameNumbers(x, y []float64) bool {
	return slices.EqualFunc(x, y, func(v, w float64) bool { return v == w || v != v && w != w })
}

func TestBitsDoNotDependOnGoroutines(t *testing.T) {
	eachCall(func(name string, f *function, way int, single bool) {
		p := f.given(301, way, single)
		setProcs(t, 1)
		want, _ := f.run(p, single)
		for _, procs := range []int{2, 5} {
			setProcs(t, procs)
			got, _ := f.run(p, single)
			requireSameBits(t, fmt.Sprintf("%s on %d", name, procs), want, got)
		}
	})
}

// Many goroutines call every function at once, each with arguments of its own but all with the same A.
func TestManyGoroutinesAtOnce(t *testing.T) {
	setProcs(t, 4)
	var all sync.WaitGroup
	failed := make(chan string, 1000)
	eachCall(func(name string, f *function, way int, single bool) {
		p := f.given(130, way, single)
		want, _ := f.run(p, single)
		for range 3 {
			all.Go(func() {
				got, _ := f.run(p, single)
				for i, w := range want.outputs() {
					if !sameNumbers(w, got.outputs()[i]) {
						failed <- name
					}
				}
			})
		}
	})
	all.Wait()
	close(failed)
	for name := range failed {
		t.Errorf("%s: other results beside other calls than alone", name)
	}
}

func TestCallsAllocateNothing(t *testing.T) {
	if testenv.Race {
		t.Skip("the race detector makes sync.Pool drop what it is given")
	}
	for _, procs := range []int{1, 2} {
		setProcs(t, procs)
		eachCall(func(name string, f *function, way int, single bool) {
			for _, n := range []int{3, 50, 270} {
				p := f.given(n, way, single)
				// The results are the next run's arguments, so no number may grow.
				p.alpha, p.beta = 1e-30, 0.5
				call := func() { f.double(Implementation{}, p) }
				if single {
					q := mapped(p, narrow)
					call = func() { f.single(Implementation{}, q) }
				}
				requireNoAllocations(t, fmt.Sprintf("%s/%d on %d", name, n, procs), call)
			}
		})
	}
}

// requireNoAllocations allows for what the runtime itself needs now and then.
func requireNoAllocations(t *testing.T, name string, f func()) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const runs, attempts = 10, 4
	got := uint64(runs)
	for i := 0; i < attempts && got >= runs/2; i++ {
		f()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			f()
		}
		runtime.ReadMemStats(&after)
		got = after.Mallocs - before.Mallocs
	}
	require.Less(t, got, uint64(runs/2), "%s: allocations in %d runs", name, runs)
}
