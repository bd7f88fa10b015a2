//go:build mpi && (amd64 || arm64)

package parallel

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// link is MPI's library. One goroutine, with a thread of its own, makes all calls
// (MPI_THREAD_FUNNELED).
type link struct {
	library
	calls   chan func()
	aborted atomic.Bool
}

// join loads the library and begins MPI.
func (l *launcher) join() (*MPI, error) {
	lib, err := l.load()
	if err != nil {
		return nil, err
	}
	m := &MPI{link: &link{library: *lib, calls: make(chan func())}}
	go m.link.serve()
	m.link.do(func() { err = m.begin() })
	return m, err
}

// serve makes the calls, on one thread.
func (k *link) serve() {
	runtime.LockOSThread()
	for call := range k.calls {
		call()
	}
}

// do makes calls on the thread of MPI, and returns when they are done.
func (k *link) do(calls func()) {
	done := make(chan struct{})
	k.calls <- func() {
		defer close(done)
		calls()
	}
	<-done
}

// begin calls MPI_Init_thread and asks for the group.
func (m *MPI) begin() error {
	k := m.link
	const funneled = 1
	var got struct{ level, rank, size int32 }
	var pinned runtime.Pinner
	defer pinned.Unpin()
	pinned.Pin(&got) // on the heap: a goroutine's stack may move
	err := keepSignals(func() error { return k.call("MPI_Init_thread", 0, 0, funneled, address(&got.level)) })
	if err != nil {
		return err
	}
	if got.level < funneled {
		return fmt.Errorf("MPI_Init_thread: got thread level %d, want %d", got.level, funneled)
	}
	if err := k.call("MPI_Comm_set_errhandler", k.world, k.errorsReturn); err != nil {
		return err
	}
	if err := k.call("MPI_Comm_rank", k.world, address(&got.rank)); err != nil {
		return err
	}
	if err := k.call("MPI_Comm_size", k.world, address(&got.size)); err != nil {
		return err
	}
	m.rank, m.size = int(got.rank), int(got.size)
	return m.findSharers()
}

// seat is a machine's name and the cores of it that a process may run on.
type seat struct {
	host  [64]byte
	cores unix.CPUSet
}

// findSharers counts the processes that may run on the cores of this one.
func (m *MPI) findSharers() error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	mine, all := make([]seat, 1), make([]seat, m.size)
	copy(mine[0].host[:], host)
	if err := unix.SchedGetaffinity(0, &mine[0].cores); err != nil {
		return fmt.Errorf("sched_getaffinity: %w", err)
	}
	bytesOf := unsafe.Sizeof(mine[0])
	var pinned runtime.Pinner
	defer pinned.Unpin()
	pinned.Pin(&mine[0])
	pinned.Pin(&all[0])
	if err := m.link.call("MPI_Allgather", address(&mine[0]), bytesOf, m.link.byteType,
		address(&all[0]), bytesOf, m.link.byteType, m.link.world); err != nil {
		return err
	}
	m.machine.Cores = mine[0].cores.Count()
	for _, other := range all {
		if bytes.Equal(other.host[:], mine[0].host[:]) && other.cores == mine[0].cores {
			m.machine.Sharers++
		}
	}
	return nil
}

// mostBytes is the length of the longest message: MPI counts in an int.
const mostBytes = 1 << 30

func (k *link) exchange(to int, send []byte, from int, receive []byte) (err error) {
	for err == nil && len(send)+len(receive) > 0 {
		s, r := min(len(send), mostBytes), min(len(receive), mostBytes)
		k.do(func() { err = k.message(to, send[:s], from, receive[:r]) })
		send, receive = send[s:], receive[r:]
	}
	return err
}

// tag is that of all messages.
const tag = 1

// message sends and receives one message each. An empty one is none.
func (k *link) message(to int, send []byte, from int, receive []byte) error {
	var pinned runtime.Pinner
	defer pinned.Unpin()
	requests := new([2]uint64) // handles of at most eight bytes
	pinned.Pin(requests)
	pending := 0
	if len(receive) > 0 {
		pinned.Pin(&receive[0])
		if err := k.call("MPI_Irecv", address(&receive[0]), uintptr(len(receive)), k.byteType, uintptr(from), tag, k.world,
			address(&requests[pending])); err != nil {
			return err
		}
		pending++
	}
	if len(send) > 0 {
		pinned.Pin(&send[0])
		if err := k.call("MPI_Isend", address(&send[0]), uintptr(len(send)), k.byteType, uintptr(to), tag, k.world,
			address(&requests[pending])); err != nil {
			return err
		}
		pending++
	}
	for i := range pending {
		if err := k.wait(&requests[i]); err != nil {
			return err
		}
	}
	return nil
}

// wait returns when a request is done. It asks again and again, and lets others have the core
// in between, longer the longer it lasts.
func (k *link) wait(request *uint64) error {
	for asked := 0; ; asked++ {
		if done, err := k.test(request); done || err != nil {
			return err
		}
		if k.aborted.Load() {
			return errors.New("the group was ended")
		}
		pause(asked)
	}
}

// test reports whether a request, which is pinned, is done.
func (k *link) test(request *uint64) (bool, error) {
	flag := new(int32)
	var pinned runtime.Pinner
	defer pinned.Unpin()
	pinned.Pin(flag)
	err := k.call("MPI_Test", address(request), address(flag), k.statusIgnore)
	return *flag != 0, err
}

// pause lets other threads have the core: for at once, and after a while for up to 1 ms.
func pause(asked int) {
	const quick, longest = 2000, 1_000_000 // times, and nanoseconds
	if asked < quick {
		_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		return
	}
	wait := unix.NsecToTimespec(min(int64(asked-quick+1)*10_000, longest))
	_ = unix.Nanosleep(&wait, nil) // a signal may end it
}

// abort ends all processes.
func (k *link) abort() {
	k.aborted.Store(true)
	k.do(func() { _ = k.call("MPI_Abort", k.world, 1) })
}

// close waits for all processes to do so, and calls MPI_Finalize.
func (k *link) close() (err error) {
	k.do(func() {
		if err = k.waitForAll(); err == nil {
			err = k.call("MPI_Finalize")
		}
	})
	close(k.calls)
	return err
}

// waitForAll returns when all processes have called it, or an error if one sends a message to this
// one, as each does whose Exchange wants it.
func (k *link) waitForAll() error {
	request, coming := new(uint64), new(int32)
	var pinned runtime.Pinner
	defer pinned.Unpin()
	pinned.Pin(request)
	pinned.Pin(coming)
	if err := k.call("MPI_Ibarrier", k.world, address(request)); err != nil {
		return err
	}
	for asked := 0; ; asked++ {
		if done, err := k.test(request); done || err != nil {
			return err
		}
		if err := k.call("MPI_Iprobe", k.anySource, tag, k.world, address(coming), k.statusIgnore); err != nil {
			return err
		}
		if *coming != 0 {
			return errors.New("got a message of another process, want all to have made their last exchange")
		}
		pause(asked)
	}
}

// call calls a function of the library, whose results other than MPI_SUCCESS are errors.
func (l *library) call(name string, arguments ...uintptr) error {
	code, _, _ := purego.SyscallN(l.functions[name], arguments...)
	if int32(code) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s", name, l.errorText(code))
}

// errorText returns the library's words for an error.
func (l *library) errorText(code uintptr) string {
	text, length := new([1 << 10]byte), new(int32)
	var pinned runtime.Pinner
	defer pinned.Unpin()
	pinned.Pin(text)
	pinned.Pin(length)
	purego.SyscallN(l.functions["MPI_Error_string"], code, address(&text[0]), address(length))
	return string(text[:max(0, min(int(*length), len(text)))])
}

// address returns where C finds a value, which is pinned.
func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
