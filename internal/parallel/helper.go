package parallel

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// Helpers are goroutines that take part in calls of For. A sleeping core takes longer to wake than a small
// product to compute, so an idle helper keeps polling for the next job for a while before it ends.
const (
	pollTime   = time.Millisecond // of an idle helper, before it ends
	moveTime   = time.Millisecond // least time between two moves of a helper to another core
	spins      = 4096             // polls between two readings of the clock
	maxHelpers = 255
)

// posted holds the jobs that helpers may join. A call that finds no free slot does its job alone.
var posted [4]atomic.Pointer[job]

// Helper i begins with share i+1 of a job.
var helpers [maxHelpers]helper

type helper struct {
	running atomic.Bool
	run     func() // h.poll, made by the first call that starts the helper, so that others allocate nothing
	core    core   // core of the helper's last run
	moved   time.Time
}

// post offers a job to helpers, and starts helpers that are not running.
func (j *job) post() (started bool) {
	for j.slot = range posted {
		if posted[j.slot].CompareAndSwap(nil, j) {
			for i := range min(len(j.shares)-1, maxHelpers) {
				if h := &helpers[i]; !h.running.Load() && h.running.CompareAndSwap(false, true) {
					if h.run == nil {
						h.run = func() { h.poll(i + 1) }
					}
					go h.run()
					started = true
				}
			}
			return started
		}
	}
	j.slot = -1
	return false
}

// unpost withdraws a job that has no blocks left.
func (j *job) unpost() {
	if j.slot >= 0 {
		posted[j.slot].CompareAndSwap(j, nil)
	}
}

// poll runs a helper: it joins posted jobs until there have been none for pollTime. A call may have found the helper
// running just before it stopped, so it checks once more after that.
func (h *helper) poll(own int) {
	// If the memory of a truncated file is read, the caller gets the fault as a panic, like any other panic of f.
	debug.SetPanicOnFault(true)
	running := true
	defer func() {
		if running { // f has ended the goroutine
			h.running.Store(false)
		}
	}()
	for running {
		for last := time.Now(); time.Since(last) < pollTime; yieldCore() {
			for range spins {
				if h.joinPosted(own) {
					last = time.Now()
				}
			}
			runtime.Gosched()
		}
		h.running.Store(false)
		running = wanted(own) && h.running.CompareAndSwap(false, true)
	}
}

// wanted reports whether a posted job has a share for the helper.
func wanted(own int) bool {
	for i := range posted {
		if j := posted[i].Load(); j != nil && int64(own) < j.workers.Load() {
			return true
		}
	}
	return false
}

// joinPosted takes part in the posted jobs and reports whether there were any.
func (h *helper) joinPosted(own int) (found bool) {
	for i := range posted {
		if j := posted[i].Load(); j != nil && j.enter(own) {
			h.leaveCore(j)
			j.help(own)
			found = true
		}
	}
	return found
}

// leaveCore moves the helper to another core if it runs on the caller's. The system sometimes wakes a thread there and
// lets both take turns for a long time, while another core is idle.
func (h *helper) leaveCore(j *job) {
	if h.core.here(); h.core == j.core {
		if now := time.Now(); now.Sub(h.moved) > moveTime {
			h.core.leave()
			h.moved = now
		}
	}
}

// enter prevents a job from ending until the helper leaves its gate. It returns false if the job has ended, or has no
// share for this helper.
func (j *job) enter(own int) bool {
	if int64(own) >= j.workers.Load() || !j.gate.enter() {
		return false
	}
	if own < len(j.shares) {
		return true
	}
	j.gate.leave() // the job was reused in between, with fewer shares
	return false
}

func (j *job) help(own int) {
	defer j.gate.leave()
	j.work(own)
}
