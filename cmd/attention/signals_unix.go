//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// lostSignals say that nobody reads on: what was printed to has ended, or the terminal,
// unless the program was started by nohup.
func lostSignals() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{syscall.SIGPIPE}
	}
	return []os.Signal{syscall.SIGPIPE, syscall.SIGHUP}
}
