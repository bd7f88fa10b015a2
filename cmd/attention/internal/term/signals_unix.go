//go:build unix

package term

import (
	"os"
	"os/signal"
	"syscall"
)

// LostSignals returns the signals sent when the reader of the output is gone: SIGPIPE and, unless nohup started
// this program, SIGHUP.
func LostSignals() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{syscall.SIGPIPE}
	}
	return []os.Signal{syscall.SIGPIPE, syscall.SIGHUP}
}

// FinishSignals returns the signal that asks a command to save what it has and to end as if it were done: SIGUSR1,
// which mpirun passes on to the processes that it started.
func FinishSignals() []os.Signal { return []os.Signal{syscall.SIGUSR1} }
