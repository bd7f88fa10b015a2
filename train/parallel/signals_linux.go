//go:build mpi && (amd64 || arm64)

package parallel

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// handling is the kernel's struct sigaction, the action of a signal.
type handling struct{ handler, flags, restorer, mask uintptr }

const signals = 64

// keepSignals calls a function of C and takes its handlers of signals back. MPICH has one of SIGUSR1 and Open MPI
// some of faults, which do not run on Go's stack for signals: Go ends the program where such a handler calls its own.
func keepSignals(call func() error) error {
	var before, after [signals + 1]handling
	for s := range signals {
		sigaction(s+1, nil, &before[s])
	}
	err := call()
	for s := range signals {
		if sigaction(s+1, nil, &after[s]); after[s] != before[s] {
			sigaction(s+1, &before[s], nil)
		}
	}
	return err
}

// sigaction sets the action of a signal and returns the previous one in get. SIGKILL and SIGSTOP are not changed.
func sigaction(signal int, set, get *handling) {
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(signal), uintptr(unsafe.Pointer(set)),
		uintptr(unsafe.Pointer(get)), signals/8, 0, 0)
}
