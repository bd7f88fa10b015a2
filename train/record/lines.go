package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"attention/internal/config"
)

// reader reads records from watch.jsonl.
type reader struct {
	r    *bufio.Reader
	n    int    // lines read
	last Record // the last one
	size int64  // bytes of those lines
	text []byte // of the last line
}

func newReader(r io.Reader) *reader {
	return &reader{r: bufio.NewReaderSize(r, mostLine), last: Record{Step: -1}}
}

// begin makes the reader go on behind the lines of a recording.
func (r *reader) begin(w *Recording) {
	if n := len(w.Records); n > 0 {
		r.n, r.last, r.size, r.text = n, w.Records[n-1], w.read, slices.Clone(w.line)
	}
}

// next returns the next record, or io.EOF after the last whole line.
func (r *reader) next() (line Record, err error) {
	text, err := r.r.ReadSlice('\n')
	switch {
	case errors.Is(err, io.EOF):
		return line, io.EOF
	case errors.Is(err, bufio.ErrBufferFull):
		err = fmt.Errorf("got more than %d bytes, want a shorter line", mostLine)
	case err == nil && r.size+int64(len(text)) > mostLines:
		err = fmt.Errorf("got more than %d bytes of lines, want a shorter file", mostLines)
	case err == nil:
		line, err = parse(text, r.last)
	}
	if err != nil {
		return line, fmt.Errorf("line %d: %w", r.n+1, err)
	}
	r.n, r.last, r.size, r.text = r.n+1, line, r.size+int64(len(text)), append(r.text[:0], text...)
	return line, nil
}

// parse reads a line after another record.
func parse(text []byte, last Record) (line Record, err error) {
	if err := json.Unmarshal(text, &line); err != nil { // which reads null as package config does not
		return line, err
	}
	for i, p := range last.Params[:min(len(last.Params), len(line.Params))] {
		if line.Params[i].Name == p.Name {
			line.Params[i].Name = p.Name // one text for all records
		}
	}
	return line, config.JSON(line.check(last.Step))
}
