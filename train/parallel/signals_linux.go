//go:build mpi && (amd64 || arm64)

package parallel

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// handling is the kernel's struct sigaction, the action of a signal.
type handling struct{ handler, flags, restorer, mask uintptr }

const signals = 64

// keepSignals calls a C function and then restores the signal handlers from before. MPICH installs one for SIGUSR1, and
// Open MPI some for faults. These do not run on Go's signal stack, and Go ends a program if such a handler calls Go's
// own.
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
