//go:build linux || darwin

package mapped

import (
	"errors"
	"os"
	"syscall"
)

// Map returns the first size bytes of a file as memory. Writes to it stay in this process. The memory remains mapped
// until the process ends: it uses addresses, but pages that were not written to can leave the memory when it is short.
// Replacing the file does not change the memory. The error is errors.ErrUnsupported where files cannot be mapped.
func Map(f *os.File, size int64) ([]byte, error) {
	if size < 1 || size != int64(int(size)) {
		return nil, errors.ErrUnsupported
	}
	return syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
}
