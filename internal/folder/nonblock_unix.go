//go:build unix

package folder

import "syscall"

// nonblock keeps the opening of a pipe from waiting for a process at its other end.
const nonblock = syscall.O_NONBLOCK
