package metrics

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"path/filepath"

	"attention/internal/folder"
)

// Tail reads metrics.jsonl while it grows, each line once.
type Tail struct {
	path string
	at   int64  // bytes read, of whole lines
	last []byte // the last of them
}

// NewTail returns a reader of the metrics of a run folder, from the beginning.
func NewTail(dir string) *Tail { return &Tail{path: filepath.Join(dir, FileName)} }

// Read yields the lines that have come since the last call. If lines that it has read are gone, since the run was
// resumed from an earlier checkpoint or another one is in its place, it calls anew and begins again. A file that does
// not exist yet has no lines, and a last line without its end is not there yet.
func (t *Tail) Read(anew func()) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		if err := t.read(anew, yield); err != nil {
			yield(Line{}, err)
		}
	}
}

func (t *Tail) read(anew func(), yield func(Line, error) bool) error {
	file, err := folder.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		if t.at > 0 {
			t.at, t.last = 0, nil
			anew()
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	same, err := t.continues(file)
	if err != nil {
		return err
	}
	if !same {
		t.at, t.last = 0, nil
		anew()
	}
	for line, err := range lines(io.NewSectionReader(file, t.at, math.MaxInt64-t.at)) {
		if errors.Is(err, errCut) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.path, err)
		}
		t.at, t.last = t.at+int64(len(line.text)), append(t.last[:0], line.text...)
		if !yield(line, nil) {
			return nil
		}
	}
	return nil
}

// continues reports whether the file holds the last line that was read, at its place.
func (t *Tail) continues(file io.ReaderAt) (bool, error) {
	there := make([]byte, len(t.last))
	if _, err := file.ReadAt(there, t.at-int64(len(t.last))); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return bytes.Equal(there, t.last), nil
}
