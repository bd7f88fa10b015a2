package gguf

import (
	"errors"
	"fmt"
	"io"
	"os"

	"attention/internal/folder"
	"attention/internal/mapped"
)

// Is reports whether there is a GGUF file at a path, by its first bytes.
func Is(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := folder.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var first [len(magic)]byte
	_, err = io.ReadFull(f, first[:])
	return err == nil && string(first[:]) == magic
}

// Open reads a file without its tensors' elements: these stay in the memory of the file, if it can be mapped, for the
// lifetime of the process and must be read under mapped.Guard. Errors name the path.
func Open(path string) (*File, error) {
	f, err := folder.Open(path)
	if err != nil {
		return nil, fmt.Errorf("gguf: %w", err)
	}
	defer f.Close() // nothing is written to it
	memory, isMapped, err := memoryOf(f)
	var to *File
	if err == nil {
		err = mapped.Guard(func() error {
			to, err = Parse(memory)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("gguf: %s: %w", path, err)
	}
	to.Mapped = isMapped
	return to, nil
}

// memoryOf returns the content of a file, and whether it is mapped.
func memoryOf(f *os.File) (memory []byte, isMapped bool, err error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return nil, false, err
	}
	memory, err = mapped.Map(f, info.Size())
	if errors.Is(err, errors.ErrUnsupported) {
		memory, err = io.ReadAll(f)
		return memory, false, err
	}
	return memory, true, err
}
