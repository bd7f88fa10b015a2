//go:build unix

package folder

import "syscall"

// nonblock prevents that opening a pipe waits for a process at its other end.
const nonblock = syscall.O_NONBLOCK
