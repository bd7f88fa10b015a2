package safetensors

import (
	"fmt"
	"io"
)

// Read reads a safetensors file of size bytes and checks its seal if it has one. The data goes
// from r into the tensors through one small buffer.
func Read(r io.ReaderAt, size int64) (*File, error) {
	c, err := readHeader(r, size)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	f, err := c.all()
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	return f, nil
}
