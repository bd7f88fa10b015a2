// Package examples has the models that attention view shows without a model: one that writes dates, and one for which
// names come back.
package examples

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"

	"attention/internal/oneline"
)

//go:generate ./make.sh

//go:embed date names
var runs embed.FS

// Example is a model with the text that it is shown on.
type Example struct {
	Folder string // of its run
	Title  string // on the page
	Text   string
}

// Unpack writes the models to a new folder, which remove removes.
func Unpack() (all []Example, remove func() error, err error) {
	dir, err := os.MkdirTemp("", "attention")
	if err != nil {
		return nil, nil, err
	}
	remove = func() error { return os.RemoveAll(dir) }
	if err := os.CopyFS(dir, fs.FS(runs)); err != nil {
		return nil, nil, oneline.Join(err, remove())
	}
	return []Example{
		{filepath.Join(dir, "date"), "A date", "wednesday, 3 september 1975"},
		{filepath.Join(dir, "names"), "A name comes back", "Max reads. Tom cooks. Ann sings. Kim waits. Ann sings. Tom"},
	}, remove, nil
}
