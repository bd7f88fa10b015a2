//go:build unix

package term

import (
	"os"
	"os/signal"
	"syscall"
)

// LostSignals returns the signals sent when nobody reads the output any more: the reading program
// ended, or the terminal, unless nohup started this program.
func LostSignals() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{syscall.SIGPIPE}
	}
	return []os.Signal{syscall.SIGPIPE, syscall.SIGHUP}
}
