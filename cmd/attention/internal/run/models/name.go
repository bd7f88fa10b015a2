package models

import (
	"path/filepath"
)

// Name returns the name of a run's folder without its path, for a picture.
func Name(dir string) string {
	path, err := filepath.Abs(dir) // "." has a name too
	if err != nil {
		path = dir
	}
	return filepath.Base(path)
}
