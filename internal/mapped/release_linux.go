package mapped

import (
	"os"
	"syscall"
	"unsafe"
)

const madvPageout = 21

// Release declares that the memory of a file will not be used soon. The system can then remove it from memory and read
// it again later; pages that were written to stay. A system without this function keeps the memory.
func Release(memory []byte) {
	page := uintptr(os.Getpagesize())
	before := -uintptr(unsafe.Pointer(unsafe.SliceData(memory))) % page // the first whole page
	if before < uintptr(len(memory)) {
		_ = syscall.Madvise(memory[before:], madvPageout)
	}
}
