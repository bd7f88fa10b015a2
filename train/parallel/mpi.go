package parallel

import (
	"fmt"
	"os"
	"runtime"
)

// Machine describes a process's share of its machine.
type Machine struct {
	Cores   int // that this process may run on, or may use by its container's limit
	Sharers int // processes that may run on the same cores, with this one
	Threads int // GOMAXPROCS: the cores divided by the sharers, or the environment's number
	// First reports whether this process is the first of the group on the machine, or was started alone. With an error
	// of Join it is the first one that has it, which prints it.
	First bool
}

// withThreads sets the threads. procs is GOMAXPROCS before: the environment's, if it gives one, or Go's own, which
// heeds the limit that a container of the sharers has.
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

// Join returns this process of the group that mpirun started, and its share of the machine. The group is nil if mpirun
// did not start the process; then, and with an error, only First of the Machine is set. Join sets GOMAXPROCS to the
// process's share of the cores, unless the environment sets it. A process joins once and closes the group before it
// ends. Join needs a program built with -tags mpi for Linux, and Open MPI 4 or 5, or MPICH 3.2 or later.
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
