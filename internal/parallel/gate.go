package parallel

import (
	"runtime"
	"sync/atomic"
	"time"
)

// A gate admits helpers to a job while it is open, and makes the job's caller wait until the last helper has left. n is
// the number of helpers inside:
//
//	            open                    close
//	closed, 0 ────────▶ open, n ──────────────────▶ closed, n
//	    ▲               enter, leave: n ± 1          │     │ the caller has waited long enough
//	    │                                            │     ▼
//	    │◀──── leave of the last: the caller sees 0 ─┘  asleep, n
//	    │                                                  │
//	    └◀──── leave of the last: it wakes the caller ─────┘
type gate struct {
	// The number of helpers inside, plus closed, plus asleep: one word, because entering must check that the gate is
	// open and count in one step, and the last to leave must know whether to wake the caller.
	state atomic.Int64
	wake  chan struct{}
}

// Both are more negative than any number of helpers is large.
const (
	closed = -1 << 32
	asleep = 2 * closed
)

// spinTime is the least time that a caller which waits for helpers stays awake. It stays awake at least as long as it
// has worked itself: a goroutine that sleeps is woken on the helper's core, and then the data of both are in the wrong
// caches for later calls.
const spinTime = 50 * time.Microsecond

// open admits helpers. The gate must be closed, with no helper inside.
func (g *gate) open() { g.state.Store(0) }

// enter reports whether the gate was open; if so, leave must follow.
func (g *gate) enter() bool {
	for {
		n := g.state.Load()
		if n < 0 {
			return false
		}
		if g.state.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// leave ends what enter began.
func (g *gate) leave() {
	if g.state.Add(-1) == closed+asleep {
		g.wake <- struct{}{}
	}
}

// close admits no more helpers and waits until all have left. It waits awake for as long as the caller has worked since
// begin, because helpers finish their last blocks; then it sleeps, because they may have lost their core to another
// process.
func (g *gate) close(begin time.Time) {
	if g.state.Add(closed) == closed {
		return
	}
	now := time.Now()
	for patience := max(now.Sub(begin), spinTime); time.Since(now) < patience; yieldCore() {
		for range spins {
			if g.state.Load() == closed {
				return
			}
		}
		runtime.Gosched()
	}
	if g.state.Add(asleep) != closed+asleep {
		<-g.wake
	}
}
