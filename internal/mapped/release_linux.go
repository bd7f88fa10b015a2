package mapped

import (
	"os"
	"syscall"
	"unsafe"
)

const madvPageout = 21

// Release says that memory of a file will not be used soon. It leaves memory, and comes back when it is read; what was
// written to it stays. A system that cannot do so keeps it.
func Release(memory []byte) {
	page := uintptr(os.Getpagesize())
	before := -uintptr(unsafe.Pointer(unsafe.SliceData(memory))) % page // the first whole page
	if before < uintptr(len(memory)) {
		_ = syscall.Madvise(memory[before:], madvPageout)
	}
}
