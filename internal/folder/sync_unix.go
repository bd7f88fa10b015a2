//go:build unix

package folder

import (
	"errors"
	"syscall"
)

// sync flushes the names in the folder, so that a renamed file keeps its new name when the
// machine stops.
func (d *Dir) sync() error {
	f, err := d.root.Open(".")
	if err != nil {
		return d.named(err, "")
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) { // file systems that do not support it
		return err
	}
	return nil
}
