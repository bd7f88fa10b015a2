// Package lines appends JSON lines to a file and reads such files, also while they grow. A line exists once it has its
// newline: the last one may be incomplete, since it is being written or its writer was killed.
package lines

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"attention/internal/folder"
)

// Place is a position in a file: the end of a line. The zero value is the beginning.
type Place struct {
	Lines int    // lines up to the position
	Size  int64  // bytes of these lines
	last  string // the last of them
}

// Read yields the values that parse returns for the lines of r, which begins at the place, and moves the place after
// each line. An error ends the sequence and has the number of its line. Lines of more than most bytes, and lines that
// parse refuses, are errors.
func Read[T any](r io.Reader, at *Place, most int, parse func(line []byte) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for in := bufio.NewReaderSize(r, most); ; {
			var value T
			line, err := in.ReadSlice('\n')
			switch {
			case errors.Is(err, io.EOF):
				return
			case errors.Is(err, bufio.ErrBufferFull):
				err = fmt.Errorf("got more than %d bytes, want a shorter line", most)
			case err == nil:
				value, err = parse(line)
			}
			if err != nil {
				yield(value, fmt.Errorf("line %d: %w", at.Lines+1, err))
				return
			}
			*at = Place{at.Lines + 1, at.Size + int64(len(line)), string(line)}
			if !yield(value, nil) {
				return
			}
		}
	}
}

// ReadFile yields the values of the lines of a file behind the place, as Read does. If the file no longer has the last
// line before the place, since it was truncated or replaced, or does not exist, it calls anew and the place becomes the
// file's beginning. The error for a file that does not exist wraps fs.ErrNotExist.
func ReadFile[T any](path string, at *Place, most int, anew func(),
	parse func(line []byte) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		file, err := folder.Open(path)
		same := false
		if err == nil {
			defer file.Close()
			same, err = at.in(file)
		}
		if !same && *at != (Place{}) {
			*at = Place{}
			anew()
		}
		if err != nil {
			yield(*new(T), err)
			return
		}
		for value, err := range Read(io.NewSectionReader(file, at.Size, math.MaxInt64-at.Size), at, most, parse) {
			if err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
			if !yield(value, err) {
				return
			}
		}
	}
}

// in reports whether a file still has the last line before the place.
func (p Place) in(file io.ReaderAt) (bool, error) {
	there := make([]byte, len(p.last))
	_, err := file.ReadAt(there, p.Size-int64(len(p.last)))
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return string(there) == p.last, nil
}
