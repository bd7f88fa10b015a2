// Package parallel divides the work of a call among the cores. A pool of goroutines helps the caller; they poll for
// work for a while, since a sleeping core takes longer to wake than a small product to compute.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// maxBlocks is the largest number of blocks of a call: enough to balance cores of different speed, few enough that
// assigning them costs almost nothing.
const maxBlocks = 256

// A job is one call of For. Jobs are reused, so that a call allocates nothing.
type job struct {
	f       func(lo, hi int)
	n       int
	blocks  int
	shares  []share      // one for each worker; the caller has the first
	workers atomic.Int64 // the number of shares, for helpers that have not entered
	core    core         // of the caller
	gate    gate         // open while helpers may enter
	slot    int          // in posted, or -1
	once    sync.Once
	failed  atomic.Bool
	failure any
}

// A share is a run of consecutive blocks with which one worker begins; afterwards it helps the others with theirs. In
// the next call over the same rows, a worker finds its earlier results in its own cache.
type share struct {
	next atomic.Int64 // the first block that is not assigned yet
	end  int64
	_    [48]byte // a cache line each
}

var jobs = sync.Pool{New: func() any {
	j := &job{gate: gate{wake: make(chan struct{}, 1)}}
	j.gate.close(time.Time{})
	return j
}}

// For calls f for consecutive blocks that together cover [0,n), on up to GOMAXPROCS goroutines including the
// caller's (see SideBySide), and returns when all are done. A block holds at least grain items (unless n
// itself is smaller). The blocks depend on n and grain alone, never on the number of goroutines, so an f
// that computes something per block gives the same bits on any machine. Calls may be nested. When f
// panics, For panics with the same value in the caller, and some blocks may not have been done.
func For(n, grain int, f func(lo, hi int)) {
	if n <= 0 {
		return
	}
	blocks := min(max(n/max(grain, 1), 1), maxBlocks)
	workers := 1
	if blocks > 1 {
		workers = min(blocks, Cores())
	}
	if workers == 1 {
		for i := range blocks {
			f(Share(i, blocks, n), Share(i+1, blocks, n))
		}
		return
	}
	j := jobs.Get().(*job)
	begin := time.Now()
	j.begin(n, blocks, workers, f)
	started := j.post()
	j.gate.open()
	if started {
		yieldCore() // for a helper that the system has woken on this core: it moves away
	}
	j.work(0)
	j.end(begin)
	if counting.Load() {
		countTo(&inParallel, begin)
	}
}

// others is the number of other computations that SideBySide has declared.
var others atomic.Int64

// SideBySide declares that n computations run at the same time. Each then uses its share of GOMAXPROCS, at least one
// core: helpers of one would only take the cores of another. The declaration holds until a call of end. The bits of
// results do not depend on it.
func SideBySide(n int) (end func()) {
	beside := int64(max(n, 1) - 1)
	others.Add(beside)
	return sync.OnceFunc(func() { others.Add(-beside) })
}

// Cores returns the number of goroutines that a computation may work on.
func Cores() int { return max(1, runtime.GOMAXPROCS(0)/int(1+others.Load())) }

// Share returns the first of the n items of share i, if the items are divided into the given number of shares. Shares
// differ by at most one item.
func Share(i, shares, n int) int {
	q, r := n/shares, n%shares
	return i*q + min(i, r)
}

// begin sets up a job.
func (j *job) begin(n, blocks, workers int, f func(lo, hi int)) {
	j.f, j.n, j.blocks = f, n, blocks
	j.core.here()
	if cap(j.shares) < workers {
		j.shares = make([]share, workers)
	}
	j.shares = j.shares[:workers]
	for i := range j.shares {
		j.shares[i].next.Store(int64(Share(i, workers, blocks)))
		j.shares[i].end = int64(Share(i+1, workers, blocks))
	}
	j.workers.Store(int64(workers))
}

// end waits for the helpers, puts the job back and passes on the first panic.
func (j *job) end(begin time.Time) {
	j.gate.close(begin)
	failed, failure := j.failed.Load(), j.failure
	j.f, j.failure, j.once = nil, nil, sync.Once{}
	j.failed.Store(false)
	jobs.Put(j)
	if failed {
		panic(failure)
	}
}

// work takes blocks until none is left, those of its own share first. A panic of f is stored for the caller of For and
// stops the assignment of blocks.
func (j *job) work(own int) {
	defer j.unpost()
	defer j.keepPanic()
	if counting.Load() {
		defer countTo(&atWork, time.Now())
	}
	for i := range j.shares {
		s := &j.shares[(own+i)%len(j.shares)]
		for s.next.Load() < s.end && !j.failed.Load() {
			if b := s.next.Add(1) - 1; b < s.end {
				j.f(Share(int(b), j.blocks, j.n), Share(int(b)+1, j.blocks, j.n))
			}
		}
	}
}

func (j *job) keepPanic() {
	if r := recover(); r != nil {
		j.once.Do(func() {
			j.failure = r
			j.failed.Store(true)
		})
	}
}
