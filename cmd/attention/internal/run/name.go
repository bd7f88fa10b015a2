package run

import "path/filepath"

// Name returns the name of the folder without its path, for a picture.
func (f *Folder) Name() string {
	path, err := filepath.Abs(f.Path) // "." has a name too
	if err != nil {
		path = f.Path
	}
	return filepath.Base(path)
}
