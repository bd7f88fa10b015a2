package parallel

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// MPI is a process of the group that mpirun started.
type MPI struct {
	rank, size int
	machine    Machine
	link       *link // to the library of MPI; nil for the zero value
}

// Machine is what a process has of its machine.
type Machine struct {
	Cores   int // that this process may run on, or may use by its container's limit
	Sharers int // processes that may run on the same cores, with this one
	Threads int // GOMAXPROCS: the cores by the sharers, or that of the environment
}

// withThreads sets the threads. procs is GOMAXPROCS before: the environment's, if it is given, or Go's own, which heeds
// the limit that a container of the sharers has.
func (m Machine) withThreads(procs int, given bool) Machine {
	if given {
		m.Threads = procs
		return m
	}
	m.Cores = min(m.Cores, procs)
	m.Threads = max(m.Cores/m.Sharers, 1)
	return m
}

// Library is the environment's variable that names the file of MPI's library, if it is not
// where the loader finds it.
const Library = "ATTENTION_MPI"

// Join returns this process of the group that mpirun started, or nil if it was started alone:
// leave train.Config.Group unset then, since a nil *MPI in it is refused as a group of nobody.
// It makes GOMAXPROCS this process's part of its cores, unless the environment sets it. A
// process joins once, and closes what it joined before it ends. Join wants a program built
// with -tags mpi for Linux, and Open MPI 4 or 5, or MPICH 3.2 or later.
func Join() (*MPI, error) {
	l, err := launcherOf(os.Getenv)
	if err != nil || l == nil {
		return nil, err
	}
	m, err := l.join()
	if err != nil {
		return nil, fmt.Errorf("parallel: %w", err)
	}
	m.machine = m.machine.withThreads(runtime.GOMAXPROCS(0), os.Getenv("GOMAXPROCS") != "")
	runtime.GOMAXPROCS(m.machine.Threads)
	return m, nil
}

var errNotJoined = errors.New("parallel: group: got nil or its zero value, want one of Join")

// Rank returns the number of this process.
func (m *MPI) Rank() int {
	if m == nil {
		return 0
	}
	return m.rank
}

// Size returns the number of processes; 0 for one that did not join.
func (m *MPI) Size() int {
	if m == nil {
		return 0
	}
	return m.size
}

// Machine returns what this process has of its machine.
func (m *MPI) Machine() Machine {
	if m == nil {
		return Machine{}
	}
	return m.machine
}

// Exchange sends bytes to one process and receives from another, as train.Group describes.
func (m *MPI) Exchange(to int, send []byte, from int, receive []byte) error {
	if m == nil || m.link == nil {
		return errNotJoined
	}
	if to < 0 || to >= m.size || from < 0 || from >= m.size || to == m.rank || from == m.rank {
		return fmt.Errorf("parallel: exchange: got ranks %d and %d, want two of %d that are not %d", to, from, m.size, m.rank)
	}
	if err := m.link.exchange(to, send, from, receive); err != nil {
		return fmt.Errorf("parallel: exchange: %w", err)
	}
	return nil
}

// Abort ends all processes, this one too, with exit code 1. Nobody else can tell why: it prints
// the reason to the standard error.
func (m *MPI) Abort(reason error) {
	if m != nil && m.link != nil {
		fmt.Fprintf(os.Stderr, "parallel: rank %d ends the group: %v\n", m.rank, cause(reason))
		m.link.abort()
	}
}

// Close leaves the group when all processes do, after their last Exchange. If another one waits
// for an Exchange of this, Close returns an error instead: mpirun ends the others soon after this
// process has ended.
func (m *MPI) Close() error {
	if m == nil || m.link == nil {
		return errNotJoined
	}
	link := m.link
	m.link = nil
	if err := link.close(); err != nil {
		return fmt.Errorf("parallel: close: %w", err)
	}
	return nil
}
