package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// maxBlocks bounds how finely Parallel cuts its range: enough to even out cores of different speed, few
// enough that handing out blocks costs nothing beside the work.
const maxBlocks = 256

// job is one call of Parallel under way. Jobs are reused, and start is made once for each, so that a call
// allocates nothing.
type job struct {
	f       func(lo, hi int)
	n       int
	blocks  int
	next    atomic.Int64
	running sync.WaitGroup
	start   func()
	once    sync.Once
	failed  atomic.Bool
	failure any
}

var jobs = sync.Pool{New: func() any {
	j := new(job)
	j.start = j.help
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
	j.f, j.n, j.blocks = f, n, blocks
	j.next.Store(0)
	j.running.Add(workers - 1)
	for range workers - 1 {
		go j.start()
	}
	j.work()
	j.running.Wait()
	failed, failure := j.failed.Load(), j.failure
	j.f, j.failure, j.once = nil, nil, sync.Once{}
	j.failed.Store(false)
	jobs.Put(j)
	if failed {
		panic(failure)
	}
}

// block is where block i of the given number begins: all blocks are equal to within one item.
func block(i, blocks, n int) int {
	q, r := n/blocks, n%blocks
	return i*q + min(i, r)
}

func (j *job) help() {
	defer j.running.Done()
	j.work()
}

// work takes blocks until none is left. A panic of f is kept for the caller of Parallel, and ends the
// handing out of blocks.
func (j *job) work() {
	defer j.keepPanic()
	for {
		i := int(j.next.Add(1)) - 1
		if i >= j.blocks {
			return
		}
		j.f(block(i, j.blocks, j.n), block(i+1, j.blocks, j.n))
	}
}

func (j *job) keepPanic() {
	if r := recover(); r != nil {
		j.next.Store(int64(j.blocks))
		j.once.Do(func() {
			j.failure = r
			j.failed.Store(true)
		})
	}
}
