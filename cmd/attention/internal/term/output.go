package term

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Output is a writer that remembers its first error, so that code that prints need not check each call.
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

// Await returns what work returns, or an Interrupted error as soon as ctx is done. The program then ends without
// waiting for the work. Use Await only for work that does not check a context and neither prints nor writes anything.
func Await[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := work()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, Interrupted(errors.New("interrupted"))
	}
}
