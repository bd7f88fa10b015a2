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
