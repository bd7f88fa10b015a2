package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"attention/internal/testenv"
)

// With more concurrent calls than slots for jobs, each call still processes every item once.
func TestForCallsAtOnce(t *testing.T) {
	testenv.SetProcs(t, 4)
	var calls sync.WaitGroup
	for range 8 * len(posted) {
		calls.Go(func() {
			for range 50 {
				var n atomic.Int64
				For(100, 1, func(lo, hi int) {
					For(10, 1, func(lo, hi int) { n.Add(int64(hi - lo)) })
				})
				if n.Load() != 1000 {
					t.Errorf("saw %d items, want 1000", n.Load())
				}
			}
		})
	}
	calls.Wait()
}

// A caller that has finished its part waits for helpers, even longer than it stays awake, and is not confused with an
// earlier caller whose job it reuses.
func TestForWaitsForHelpers(t *testing.T) {
	testenv.SetProcs(t, 12)
	var calls sync.WaitGroup
	for range 3 {
		calls.Go(func() {
			for i := range 400 {
				each := []time.Duration{0, spinTime / 2, 2 * spinTime, 0, 4 * spinTime}[i%5]
				var done atomic.Int64
				For(8, 1, func(lo, hi int) {
					if lo > 0 {
						for begin := time.Now(); time.Since(begin) < each; {
							runtime.Gosched()
						}
					}
					done.Add(int64(hi - lo))
				})
				if done.Load() != 8 {
					t.Errorf("returned when %d of 8 blocks of %v were done", done.Load(), each)
				}
			}
		})
	}
	calls.Wait()
}

// GOMAXPROCS may decrease after the call that started the helpers.
func TestForWithFewerGoroutines(t *testing.T) {
	for range 20 {
		testenv.SetProcs(t, 8)
		For(64, 1, func(lo, hi int) {})
		testenv.SetProcs(t, 2)
		var at, most atomic.Int64
		For(64, 1, func(lo, hi int) {
			now := at.Add(1)
			for {
				old := most.Load()
				if now <= old || most.CompareAndSwap(old, now) {
					break
				}
			}
			runtime.Gosched()
			at.Add(-1)
		})
		if most.Load() > 2 {
			t.Fatalf("%d goroutines at once, want at most 2", most.Load())
		}
	}
}

// Idle helpers end and leave the cores to others.
func TestHelpersEnd(t *testing.T) {
	testenv.SetProcs(t, 4)
	For(1000, 1, func(lo, hi int) {})
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		some := false
		for i := range helpers {
			some = some || helpers[i].running.Load()
		}
		if !some {
			return
		}
		if time.Since(begin) > 5*time.Second {
			t.Fatal("a helper still runs after 5 s")
		}
	}
}

// BenchmarkRoundTrip measures how long it takes to hand a cache line to another goroutine and get it back. On two cores
// that share a cache that is some 70 ns; with separate caches it is several times as long, and so is every read of data
// that another core has just written.
func BenchmarkRoundTrip(b *testing.B) {
	var line [16]atomic.Int64 // lines of their own
	at := &line[8]
	go func() {
		for i := int64(1); i <= int64(b.N); i++ {
			for at.Load() != 2*i-1 {
			}
			at.Store(2 * i)
		}
	}()
	for i := int64(1); i <= int64(b.N); i++ {
		at.Store(2*i - 1)
		for at.Load() != 2*i {
		}
	}
}
