package parallel

import (
	"sync/atomic"
	"testing"

	"attention/internal/testenv"
)

func TestForCoversEveryItemOnce(t *testing.T) {
	for _, procs := range []int{1, 2, 5} {
		testenv.SetProcs(t, procs)
		for _, n := range []int{-1, 0, 1, 2, 7, 256, 257, 1000, 65537} {
			for _, grain := range []int{-1, 0, 1, 3, 64, 100000} {
				seen := make([]atomic.Int32, max(n, 0))
				For(n, grain, func(lo, hi int) {
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

func TestForBlocksDoNotDependOnGoroutines(t *testing.T) {
	blocks := func(procs int) map[int]int {
		testenv.SetProcs(t, procs)
		ends := make([]atomic.Int64, 10007)
		For(len(ends), 10, func(lo, hi int) { ends[lo].Store(int64(hi)) })
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

func TestForNests(t *testing.T) {
	testenv.SetProcs(t, 4)
	var sum atomic.Int64
	For(50, 1, func(lo, hi int) {
		for range hi - lo {
			For(40, 1, func(lo, hi int) { sum.Add(int64(hi - lo)) })
		}
	})
	if sum.Load() != 2000 {
		t.Fatalf("saw %d items, want 2000", sum.Load())
	}
}

func TestForPassesOnPanics(t *testing.T) {
	for _, procs := range []int{1, 3} {
		testenv.SetProcs(t, procs)
		for range 20 {
			func() {
				defer func() {
					if got := recover(); got != "no" {
						t.Fatalf("recovered %v, want the panic of the block", got)
					}
				}()
				For(100, 1, func(lo, hi int) {
					if lo == 50 {
						panic("no")
					}
				})
			}()
			// The next call is not disturbed.
			var n atomic.Int64
			For(100, 1, func(lo, hi int) { n.Add(int64(hi - lo)) })
			if n.Load() != 100 {
				t.Fatalf("saw %d items after a panic, want 100", n.Load())
			}
		}
	}
}

// Computations side by side share the cores, and a computation that is alone again gets all of them.
func TestSideBySide(t *testing.T) {
	testenv.SetProcs(t, 4)
	want := func(n int) {
		t.Helper()
		if got := Cores(); got != n {
			t.Errorf("got %d cores, want %d", got, n)
		}
	}
	end := SideBySide(2)
	want(2)
	endNested := SideBySide(3) // four at once
	want(1)
	counted := 0 // without a lock, for the race detector: no helper counts
	For(100, 1, func(lo, hi int) { counted += hi - lo })
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

func TestForAllocatesNothing(t *testing.T) {
	for _, procs := range []int{1, 2, 4} {
		testenv.SetProcs(t, procs)
		f := func(lo, hi int) {}
		testenv.NoAllocations(t, "For", func() { For(1000, 1, f) })
	}
}
