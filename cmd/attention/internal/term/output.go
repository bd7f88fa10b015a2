package term

import (
	"fmt"
	"io"
)

// Output is a writer that keeps its first error, so that code that prints need not check each call.
type Output struct {
	writer io.Writer
	err    error
}

// NewOutput returns an Output that writes to w.
func NewOutput(w io.Writer) *Output { return &Output{writer: w} }

// Write writes p and keeps the first error.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.writer.Write(p)
	if o.err == nil && err != nil {
		o.err = fmt.Errorf("printing: %w", err)
	}
	return n, err
}

// Err returns the first error of Write.
func (o *Output) Err() error { return o.err }
