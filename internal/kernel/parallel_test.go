package kernel

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"

	"attention/internal/testenv"
)

func TestParallelCoversEveryItemOnce(t *testing.T) {
	for _, procs := range []int{1, 2, 5} {
		setProcs(t, procs)
		for _, n := range []int{-1, 0, 1, 2, 7, 256, 257, 1000, 65537} {
			for _, grain := range []int{-1, 0, 1, 3, 64, 100000} {
				seen := make([]atomic.Int32, max(n, 0))
				Parallel(n, grain, func(lo, hi int) {
					if hi-lo < min(grain, n) {
						t.Errorf("n=%d grain=%d: block [%d,%d) is too small", n, grain, lo, hi)
					}
					for i := lo; i < hi; i++ {
						seen[i].Add(1)
					}
				})
				for i := range seen {
					if got := seen[i].Load(); got != 1 {
						t.Fatalf("n=%d grain=%d: item %d was seen %d times", n, grain, i, got)
					}
				}
			}
		}
	}
}

func TestParallelBlocksDoNotDependOnGoroutines(t *testing.T) {
	blocks := func(procs int) map[int]int {
		setProcs(t, procs)
		ends := make([]atomic.Int64, 10007)
		Parallel(len(ends), 10, func(lo, hi int) { ends[lo].Store(int64(hi)) })
		found := map[int]int{}
		for lo := range ends {
			if hi := ends[lo].Load(); hi != 0 {
				found[lo] = int(hi)
			}
		}
		return found
	}
	want := blocks(1)
	for _, procs := range []int{2, 7} {
		got := blocks(procs)
		if len(got) != len(want) {
			t.Fatalf("%d blocks with %d goroutines, %d with 1", len(got), procs, len(want))
		}
		for lo, hi := range want {
			if got[lo] != hi {
				t.Fatalf("block [%d,%d) with 1 goroutine, [%d,%d) with %d", lo, hi, lo, got[lo], procs)
			}
		}
	}
}

func TestParallelNests(t *testing.T) {
	setProcs(t, 4)
	var sum atomic.Int64
	Parallel(50, 1, func(lo, hi int) {
		for range hi - lo {
			Parallel(40, 1, func(lo, hi int) { sum.Add(int64(hi - lo)) })
		}
	})
	if sum.Load() != 2000 {
		t.Fatalf("saw %d items, want 2000", sum.Load())
	}
}

func TestParallelPassesOnPanics(t *testing.T) {
	for _, procs := range []int{1, 3} {
		setProcs(t, procs)
		for range 20 {
			func() {
				defer func() {
					if got := recover(); got != "no" {
						t.Fatalf("recovered %v, want the panic of the block", got)
					}
				}()
				Parallel(100, 1, func(lo, hi int) {
					if lo == 50 {
						panic("no")
					}
				})
			}()
			// The next call is not disturbed.
			var n atomic.Int64
			Parallel(100, 1, func(lo, hi int) { n.Add(int64(hi - lo)) })
			if n.Load() != 100 {
				t.Fatalf("saw %d items after a panic, want 100", n.Load())
			}
		}
	}
}

// Computations side by side share the cores, and one that is alone again has all.
func TestSideBySide(t *testing.T) {
	setProcs(t, 4)
	want := func(n int) {
		t.Helper()
		if got := cores(); got != n {
			t.Errorf("got %d cores, want %d", got, n)
		}
	}
	end := SideBySide(2)
	want(2)
	endNested := SideBySide(3) // four at once
	want(1)
	counted := 0 // without a lock, for the race detector: no helper counts
	Parallel(100, 1, func(lo, hi int) { counted += hi - lo })
	if counted != 100 {
		t.Errorf("got %d items, want 100", counted)
	}
	endNested()
	endNested() // does nothing
	want(2)
	SideBySide(100)()
	SideBySide(-1)()
	end()
	want(4)
}

func TestParallelAllocatesNothing(t *testing.T) {
	for _, procs := range []int{1, 2, 4} {
		setProcs(t, procs)
		f := func(lo, hi int) {}
		noAllocations(t, "Parallel", func() { Parallel(1000, 1, f) })
	}
}

// noAllocations fails the test when f allocates in steady state. (testing.AllocsPerRun would force GOMAXPROCS
// to 1.) What f itself allocates, it allocates in every run; the runtime now and then needs a record for a
// goroutine that starts or waits, more often on a busy machine. So the rule is less than one allocation in
// two runs, in the best of a few attempts.
func noAllocations(t *testing.T, name string, f func()) {
	t.Helper()
	if testenv.Race {
		return // the race detector makes sync.Pool drop what it is given
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const runs, attempts = 16, 6
	got := uint64(runs)
	for i := 0; i < attempts && got >= runs/2; i++ {
		for range runs {
			f()
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			f()
		}
		runtime.ReadMemStats(&after)
		got = after.Mallocs - before.Mallocs
	}
	if got >= runs/2 {
		t.Errorf("%s: %d allocations in %d runs, want almost none", name, got, runs)
	}
}
