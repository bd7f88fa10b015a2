package lines

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"attention/internal/folder"
	"attention/internal/oneline"
)

// Appender appends lines to a file of a folder.
type Appender struct {
	dir  *folder.Dir
	name string
	most int      // largest number of bytes of a line
	file *os.File // opened for appending, so that a file that is truncated meanwhile has no gaps
	size int64    // size of the file as it was written
}

// Append opens a file for lines of at most most bytes, with os.O_CREATE or other flags in flag. Existing lines stay
// until Truncate.
func Append(dir *folder.Dir, name string, most, flag int) (*Appender, error) {
	file, err := dir.Open(name, os.O_RDWR|os.O_APPEND|flag)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, oneline.Join(err, file.Close())
	}
	return &Appender{dir, name, most, file, info.Size()}, nil
}

// Size returns the number of bytes of the lines.
func (a *Appender) Size() int64 { return a.size }

// Content returns a reader of the lines, even if the file was removed.
func (a *Appender) Content() *io.SectionReader { return io.NewSectionReader(a.file, 0, a.size) }

// Truncate removes everything after the first size bytes.
func (a *Appender) Truncate(size int64) error {
	err := a.file.Truncate(size)
	if err == nil {
		a.size = size
	}
	return err
}

// Add appends a value as a line of JSON.
func (a *Appender) Add(value any) error {
	line, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if len(line) >= a.most {
		return fmt.Errorf("got a line of %d bytes, want less than %d", len(line), a.most)
	}
	n, err := a.file.Write(append(line, '\n'))
	a.size += int64(n)
	return err
}

// InPlace reports whether the folder still has the file.
func (a *Appender) InPlace() bool { return a.dir.Holds(a.name, a.file) }

// Changed returns an error if the folder no longer has the file as it was written.
func (a *Appender) Changed() error {
	path := a.dir.Path(a.name)
	info, err := a.file.Stat()
	if err != nil { // Sync says why
		return nil
	}
	if !a.InPlace() {
		return fmt.Errorf("%s: got none or another file, want the one that the run writes: "+
			"it was removed or replaced during the run", path)
	}
	if got := info.Size(); got != a.size {
		return fmt.Errorf("%s: got %d bytes, want the %d that the run has written: it was changed during the run",
			path, got, a.size)
	}
	return nil
}

// Rewrite replaces the file in the folder by one with the lines that write writes. Later lines follow them.
func (a *Appender) Rewrite(write func(io.Writer) error) error {
	if err := a.dir.Write(a.name, write); err != nil {
		return err
	}
	anew, err := Append(a.dir, a.name, a.most, 0)
	if err != nil {
		return err
	}
	old := a.file
	*a = *anew
	return old.Close()
}

// Sync writes the lines to the disk.
func (a *Appender) Sync() error { return a.file.Sync() }

// Close closes the file.
func (a *Appender) Close() error { return a.file.Close() }
