package kernel

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Helpers are goroutines that take part in calls of Parallel. A core that sleeps takes longer to wake than a
// small product to compute, so a helper that has nothing to do looks out for the next call for a while.
const (
	lookOut    = 100 * time.Microsecond // how long, before it ends
	stayAwake  = 50 * time.Microsecond  // how long a caller waits for helpers before it sleeps
	spins      = 256                    // looks between two at the clock
	maxHelpers = 255
)

// board is where calls ask for help. Calls that find no place do without.
var board [4]atomic.Pointer[job]

// helping says which helpers there are. Helper i begins with share i+1 of a job.
var helping [maxHelpers]atomic.Bool

// post asks for help with a job.
func (j *job) post() {
	for j.place = range board {
		if board[j.place].CompareAndSwap(nil, j) {
			for i := range min(len(j.shares)-1, maxHelpers) {
				if !helping[i].Load() && helping[i].CompareAndSwap(false, true) {
					go help(i)
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

// help is the life of helper i.
func help(i int) {
	defer helping[i].Store(false)
	for last := time.Now(); time.Since(last) < lookOut; runtime.Gosched() {
		for range spins {
			if helpAny(i + 1) {
				last = time.Now()
			}
		}
	}
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

// join keeps a job from ending until help is done. It fails if that has ended, or is not for so many.
func (j *job) join(own int) bool {
	for {
		n := j.helpers.Load()
		if n < 0 {
			return false
		}
		if j.helpers.CompareAndSwap(n, n+1) {
			break
		}
	}
	if own >= len(j.shares) {
		j.leave()
		return false
	}
	return true
}

func (j *job) help(own int) {
	defer j.leave()
	j.work(own)
}
