//go:build unix

package term

import (
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// LostSignals returns the signals that the system sends when the reader of the output is gone: SIGPIPE and, unless
// nohup started this program, SIGHUP.
func LostSignals() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{syscall.SIGPIPE}
	}
	return []os.Signal{syscall.SIGPIPE, syscall.SIGHUP}
}

// FinishSignals returns the signal that asks a command to save and to end normally: SIGUSR1, which mpirun passes on to
// the processes that it started.
func FinishSignals() []os.Signal { return []os.Signal{syscall.SIGUSR1} }

// isPipe reports whether a signal is SIGPIPE, which may come from a connection.
func isPipe(s os.Signal) bool { return s == syscall.SIGPIPE }

// ofConnection reports whether a SIGPIPE comes from a connection, not from the output.
func ofConnection() bool { return !lost(os.Stdout, os.Stderr) }

// lost reports whether one of the files is a pipe, a socket or a terminal without a reader.
func lost(files ...*os.File) bool {
	polled := make([]unix.PollFd, len(files))
	for i, f := range files {
		polled[i].Fd = int32(f.Fd())
	}
	if _, err := unix.Poll(polled, 0); err != nil {
		return true // the system does not report it
	}
	return slices.ContainsFunc(polled, func(p unix.PollFd) bool {
		return p.Revents&(unix.POLLERR|unix.POLLHUP) != 0
	})
}
