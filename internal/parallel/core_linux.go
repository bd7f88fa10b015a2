package parallel

import (
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A core is the number of a processor's core, as the system counts them.
type core struct{ number uint32 }

// here sets c to the core that runs the calling thread.
func (c *core) here() {
	if _, _, err := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&c.number)), 0, 0); err != 0 {
		c.number = 1<<32 - 1
	}
}

// leaving is the memory that leave needs, so that leave allocates nothing.
var leaving struct {
	sync.Mutex
	allowed, others unix.CPUSet
}

// leave moves the calling thread to another core, if it may use one. The system may move it back later, because the set
// of allowed cores stays the same.
func (c *core) leave() {
	if !leaving.TryLock() {
		return
	}
	defer leaving.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	l := &leaving
	if unix.SchedGetaffinity(0, &l.allowed) != nil || !l.allowed.IsSet(int(c.number)) || l.allowed.Count() < 2 {
		return
	}
	l.others = l.allowed
	l.others.Clear(int(c.number))
	if unix.SchedSetaffinity(0, &l.others) == nil {
		_ = unix.SchedSetaffinity(0, &l.allowed) // the original set
	}
}

// yieldCore lets other threads that wait for this core run.
func yieldCore() {
	_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
}
