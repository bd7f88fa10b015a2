package kernel

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Helpers are goroutines that take part in calls of Parallel. A core that sleeps takes longer to wake than a
// small product to compute, so a helper that has nothing to do looks out for the next call for a while.
const (
	patience   = 100 * time.Microsecond // of a helper that looks out, before it ends
	stayAwake  = 50 * time.Microsecond  // of a caller that waits for helpers, before it sleeps
	spins      = 4096                   // looks between two at the clock
	maxHelpers = 255
)

// board is where calls ask for help. Calls that find no place do without.
var board [4]atomic.Pointer[job]

// Helper i begins with share i+1 of a job.
var helpers [maxHelpers]helper

type helper struct {
	there atomic.Bool
	help  func() // made by the first call that wants it, so that others allocate nothing
}

// post asks for help with a job.
func (j *job) post() {
	for j.place = range board {
		if board[j.place].CompareAndSwap(nil, j) {
			for i := range min(len(j.shares)-1, maxHelpers) {
				if h := &helpers[i]; !h.there.Load() && h.there.CompareAndSwap(false, true) {
					if h.help == nil {
						h.help = func() { h.lookOut(i + 1) }
					}
					go h.help()
				}
			}
			return
		}
	}
	j.place = -1
}

// unpost takes a job that has nothing left to take off the board.
func (j *job) unpost() {
	if j.place >= 0 {
		board[j.place].CompareAndSwap(j, nil)
	}
}

// lookOut is the life of a helper. When it has given up, it looks at the board once more: a call may have
// counted on it.
func (h *helper) lookOut(own int) {
	there := true
	defer func() {
		if there { // f has ended the goroutine
			h.there.Store(false)
		}
	}()
	for there {
		for last := time.Now(); time.Since(last) < patience; runtime.Gosched() {
			for range spins {
				if helpAny(own) {
					last = time.Now()
				}
			}
		}
		h.there.Store(false)
		there = wanted(own) && h.there.CompareAndSwap(false, true)
	}
}

// wanted says whether a job on the board has a share for the helper.
func wanted(own int) bool {
	for at := range board {
		if j := board[at].Load(); j != nil && int64(own) < j.workers.Load() {
			return true
		}
	}
	return false
}

// helpAny takes part in the jobs on the board, and says whether there were any.
func helpAny(own int) (found bool) {
	for at := range board {
		if j := board[at].Load(); j != nil && j.join(own) {
			j.help(own)
			found = true
		}
	}
	return found
}

// join keeps a job from ending until leave. It fails if it has ended, or has no share for this helper.
func (j *job) join(own int) bool {
	for int64(own) < j.workers.Load() {
		n := j.joined.Load()
		if n < 0 {
			return false
		}
		if !j.joined.CompareAndSwap(n, n+1) {
			continue
		}
		if own < len(j.shares) {
			return true
		}
		j.leave() // it was begun anew in between
	}
	return false
}

func (j *job) help(own int) {
	defer j.leave()
	j.work(own)
}
