package testenv

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// SetProcs runs the rest of the test with n processors.
func SetProcs(t testing.TB, n int) {
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// NoAllocations fails the test when f allocates in steady state. (testing.AllocsPerRun would force GOMAXPROCS
// to 1.) What f itself allocates, it allocates in every run; the runtime now and then needs a record for a
// goroutine that starts or waits, more often on a busy machine. So the rule is less than one allocation in
// two runs, in the best of a few attempts.
func NoAllocations(t testing.TB, name string, f func()) {
	t.Helper()
	if Race {
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
