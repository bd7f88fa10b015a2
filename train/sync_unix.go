//go:build unix

package train

import (
	"errors"
	"os"
	"syscall"
)

// syncFolder flushes the names in a folder, so that a renamed file keeps its new name
// when the machine stops.
func syncFolder(path string) error {
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
