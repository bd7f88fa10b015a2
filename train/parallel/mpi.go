package parallel

import (
	"fmt"
	"os"
	"runtime"
)

// Machine describes a process's share of its machine.
type Machine struct {
	Cores   int // cores that this process may run on, or may use by its container's limit
	Sharers int // number of processes that may run on the same cores, including this one
	Threads int // GOMAXPROCS: Cores divided by Sharers, or the environment's number
	// First reports whether this process is the first of the group on the machine, or was started alone. If Join returns
	// an error, the first process is the first one with this error, which should print it.
	First bool
}

// withThreads sets the threads. procs is GOMAXPROCS before: the environment's number, if it sets one, or Go's own,
// which takes the limit of the container into account.
func (m Machine) withThreads(procs int, given bool) Machine {
	if given {
		m.Threads = procs
		return m
	}
	m.Cores = min(m.Cores, procs)
	m.Threads = max(m.Cores/m.Sharers, 1)
	return m
}

// Library is the environment variable that names the file of the MPI library, if the loader does not find it.
const Library = "ATTENTION_MPI"

// Join returns this process of the group that mpirun started, and its share of the machine. The group is nil if mpirun
// did not start the process; then, and after an error, only First of the Machine is set. Join sets GOMAXPROCS to the
// process's share of the cores, unless the environment sets it. A process joins only once, and must close the group
// before it ends. Join needs a program built with -tags mpi for Linux, and Open MPI 4 or 5, or MPICH 3.2 or later.
func Join() (*Group, Machine, error) {
	alone := Machine{First: first(os.Getenv)}
	l, err := launcherOf(os.Getenv)
	if err != nil {
		return nil, Machine{First: speaks()}, err
	}
	if l == nil {
		return nil, alone, nil
	}
	t, m, err := l.join()
	if err != nil {
		return nil, Machine{First: speaks()}, fmt.Errorf("parallel: %w", err)
	}
	if t == nil {
		return nil, alone, nil
	}
	m.First = alone.First
	m = m.withThreads(runtime.GOMAXPROCS(0), os.Getenv("GOMAXPROCS") != "")
	runtime.GOMAXPROCS(m.Threads)
	return &Group{Transport: t}, m, nil
}
