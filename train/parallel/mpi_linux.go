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

	"golang.org/x/sys/unix"
)

// link is the MPI library. One goroutine, locked to its thread, makes all calls (MPI_THREAD_FUNNELED).
type link struct {
	library
	calls   chan func()
	aborted atomic.Bool
}

// join loads the library and initialises MPI.
func (l *launcher) join() (Transport, Machine, error) {
	lib, err := l.load()
	if err != nil {
		return nil, Machine{}, err
	}
	m := &mpi{link: &link{library: *lib, calls: make(chan func())}}
	go m.link.serve()
	began := make(chan error, 1)
	go m.link.do(func() { began <- m.begin() })
	if err := l.await(began); err != nil {
		return nil, Machine{}, err
	}
	return m, m.machine, nil
}

// serve executes the calls, on one thread.
func (k *link) serve() {
	runtime.LockOSThread()
	for call := range k.calls {
		call()
	}
}

// do executes calls on MPI's thread, and returns when they are done.
func (k *link) do(calls func()) {
	done := make(chan struct{})
	k.calls <- func() {
		defer close(done)
		calls()
	}
	<-done
}

// begin calls MPI_Init_thread and then queries the group.
func (m *mpi) begin() error {
	k := m.link
	const funneled = 1
	number := address(&written.number)
	if err := keepSignals(func() error { return k.call("MPI_Init_thread", 0, 0, funneled, number) }); err != nil {
		return err
	}
	if level := written.number; level < funneled {
		return fmt.Errorf("MPI_Init_thread: got thread level %d, want %d", level, funneled)
	}
	if err := k.call("MPI_Comm_set_errhandler", k.world, k.errorsReturn); err != nil {
		return err
	}
	for name, to := range map[string]*int{"MPI_Comm_rank": &m.rank, "MPI_Comm_size": &m.size} {
		if err := k.call(name, k.world, number); err != nil {
			return err
		}
		*to = int(written.number)
	}
	return m.findSharers()
}

// seat is a machine's name and the cores on which a process may run.
type seat struct {
	host  [64]byte
	cores unix.CPUSet
}

// findSharers counts the processes that may run on this process's cores.
func (m *mpi) findSharers() error {
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

// abort ends all processes.
func (k *link) abort() {
	k.aborted.Store(true)
	k.do(func() { _ = k.call("MPI_Abort", k.world, 1) })
}

// close waits until all processes call it, and then calls MPI_Finalize.
func (k *link) close() (err error) {
	k.do(func() {
		if err = k.waitForAll(); err != nil {
			return
		}
		err = k.call("MPI_Finalize")
	})
	close(k.calls)
	return err
}

// waitForAll returns when all processes have called it. It returns an error if another process sends this one a
// message, as a process does that expects an Exchange.
func (k *link) waitForAll() error {
	request := &written.requests[0]
	if err := k.call("MPI_Ibarrier", k.world, address(request)); err != nil {
		return err
	}
	for asked := 0; ; asked++ {
		if done, err := k.test(request, k.statusIgnore); done || err != nil {
			return err
		}
		if err := k.call("MPI_Iprobe", k.anySource, tag, k.world, address(&written.number), k.statusIgnore); err != nil {
			return err
		}
		if written.number != 0 {
			return errors.New("got a message of another process, want all to have made their last exchange")
		}
		pause(asked)
	}
}
