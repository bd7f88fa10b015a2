package testenv

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// SetProcs sets GOMAXPROCS to n for the rest of the test.
func SetProcs(t testing.TB, n int) {
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// NoAllocations fails the test when f allocates in steady state. (testing.AllocsPerRun would force GOMAXPROCS to 1.) An
// allocation of f itself occurs in every run, but the runtime sometimes allocates a record for a goroutine that starts
// or waits, more often on a busy machine. Therefore f may allocate in fewer than half of its runs, in the best of a few
// attempts.
func NoAllocations(t testing.TB, name string, f func()) {
	t.Helper()
	if Race {
		return // the race detector makes sync.Pool drop objects
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
