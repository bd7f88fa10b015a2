//go:build unix

package folder

import (
	"errors"
	"os"
	"syscall"
)

// Sync flushes the names in a folder, so that a renamed file keeps its new name
// when the machine stops.
func Sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) { // file systems that cannot
		return err
	}
	return nil
}
