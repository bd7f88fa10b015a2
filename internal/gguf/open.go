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

// Open reads a file, whose tensors stay in it: the memory of the file where it can be mapped, which lasts as long as
// the process and must be read under mapped.Guard. Errors name the path.
func Open(path string) (*File, error) {
	f, err := folder.Open(path)
	if err != nil {
		return nil, fmt.Errorf("gguf: %w", err)
	}
	defer f.Close() // nothing is written to it
	memory, err := memoryOf(f)
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
	return to, nil
}

// memoryOf returns the content of a file.
func memoryOf(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 {
		return nil, nil
	}
	memory, err := mapped.Map(f, info.Size())
	if errors.Is(err, errors.ErrUnsupported) {
		return io.ReadAll(f)
	}
	return memory, err
}
