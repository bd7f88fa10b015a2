package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// maxBlocks bounds how finely Parallel cuts its range: enough to even out cores of different speed, few
// enough that handing out blocks costs nothing beside the work.
const maxBlocks = 256

// job is one call of Parallel under way. Jobs are reused, so that a call allocates nothing.
type job struct {
	f       func(lo, hi int)
	n       int
	blocks  int
	shares  []share      // one for each worker; that of the caller is the first
	workers atomic.Int64 // how many shares there are
	joined  atomic.Int64 // helpers at work, plus closed and sleeping
	place   int          // on the board, or -1
	wake    chan struct{}
	once    sync.Once
	failed  atomic.Bool
	failure any
}

// share is a run of consecutive blocks that one worker begins with. Who has done its own helps the others.
// In the next call over rows of the same number a worker finds what it wrote in this one in its own cache.
type share struct {
	next atomic.Int64 // the first block that nobody has taken
	end  int64
	_    [48]byte // a cache line each
}

// What is added to the number of helpers when no more may join, and when the caller sleeps until the last one
// has left. Both are far below any number of helpers.
const (
	closed   = -1 << 32
	sleeping = 2 * closed
)

var jobs = sync.Pool{New: func() any {
	j := &job{wake: make(chan struct{}, 1)}
	j.joined.Store(closed)
	return j
}}

// Parallel calls f for consecutive blocks that together cover [0,n), on up to GOMAXPROCS goroutines of
// which the caller is one, and returns when all are done. A block holds at least grain items (unless n
// itself is smaller). The blocks depend on n and grain alone, never on the number of goroutines, so an f
// that computes something per block gives the same bits on any machine. Calls may be nested. When f
// panics, Parallel panics with the same value in the caller, and some blocks may not have been done.
func Parallel(n, grain int, f func(lo, hi int)) {
	if n <= 0 {
		return
	}
	blocks := min(max(n/max(grain, 1), 1), maxBlocks)
	workers := 1
	if blocks > 1 {
		workers = min(blocks, runtime.GOMAXPROCS(0))
	}
	if workers == 1 {
		for i := range blocks {
			f(block(i, blocks, n), block(i+1, blocks, n))
		}
		return
	}
	j := jobs.Get().(*job)
	j.begin(n, blocks, workers, f)
	j.post()
	j.joined.Store(0) // now they may join
	j.work(0)
	j.end()
}

// block is where block i of the given number begins: all blocks are equal to within one item.
func block(i, blocks, n int) int {
	q, r := n/blocks, n%blocks
	return i*q + min(i, r)
}

// begin sets up a job.
func (j *job) begin(n, blocks, workers int, f func(lo, hi int)) {
	j.f, j.n, j.blocks = f, n, blocks
	if cap(j.shares) < workers {
		j.shares = make([]share, workers)
	}
	j.shares = j.shares[:workers]
	for i := range j.shares {
		j.shares[i].next.Store(int64(block(i, workers, blocks)))
		j.shares[i].end = int64(block(i+1, workers, blocks))
	}
	j.workers.Store(int64(workers))
}

// end waits for the helpers, puts the job back and passes on the first panic.
func (j *job) end() {
	if j.joined.Add(closed) != closed {
		j.await()
	}
	failed, failure := j.failed.Load(), j.failure
	j.f, j.failure, j.once = nil, nil, sync.Once{}
	j.failed.Store(false)
	jobs.Put(j)
	if failed {
		panic(failure)
	}
}

// await waits for the helpers: awake while it pays, since they do their last blocks, then asleep, since they
// may have lost their core to another process.
func (j *job) await() {
	for begin := time.Now(); time.Since(begin) < stayAwake; runtime.Gosched() {
		for range spins {
			if j.joined.Load() == closed {
				return
			}
		}
	}
	if j.joined.Add(sleeping) != closed+sleeping {
		<-j.wake
	}
}

// leave is the end of a helper's help.
func (j *job) leave() {
	if j.joined.Add(-1) == closed+sleeping {
		j.wake <- struct{}{}
	}
}

// work takes blocks until none is left, first of its own share. A panic of f is kept for the caller of
// Parallel, and ends the handing out of blocks.
func (j *job) work(own int) {
	defer j.unpost()
	defer j.keepPanic()
	for i := range j.shares {
		s := &j.shares[(own+i)%len(j.shares)]
		for s.next.Load() < s.end && !j.failed.Load() {
			if b := s.next.Add(1) - 1; b < s.end {
				j.f(block(int(b), j.blocks, j.n), block(int(b)+1, j.blocks, j.n))
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
