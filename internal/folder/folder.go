// Package folder locks folders, and writes and checks files that must survive a crash:
// those of checkpoints and of runs.
package folder

import (
	"os"
	"path/filepath"
	"strings"
)

const (
	// lockName is the name of the file that Lock makes.
	lockName = "lock"

	// incompletePrefix begins the names of files that are being written (atomicwriter's).
	incompletePrefix = ".tmp-"
)

// IsLeftover reports whether a file of this name may stay behind when a process is
// killed before it has finished any: a lock or an incomplete file.
func IsLeftover(name string) bool { return name == lockName || isIncomplete(name) }

func isIncomplete(name string) bool { return strings.HasPrefix(name, incompletePrefix) }

// RemoveIncomplete removes the files of a folder that a process was still writing when
// it was killed.
func RemoveIncomplete(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if isIncomplete(e.Name()) {
			if err := os.Remove(filepath.Join(path, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
