//go:build linux || darwin

package mapped

import (
	"errors"
	"os"
	"syscall"
)

// Map returns the first size bytes of a file as memory. What is written to it stays in this process. The memory lasts
// as long as the process: it takes addresses, and what is not written to leaves memory when that is short. A file that
// takes the place of this one does not change it. The error is errors.ErrUnsupported where files cannot be mapped.
func Map(f *os.File, size int64) ([]byte, error) {
	if size < 1 || size != int64(int(size)) {
		return nil, errors.ErrUnsupported
	}
	return syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
}
