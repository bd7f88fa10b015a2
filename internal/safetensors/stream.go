package safetensors

import (
	"fmt"
	"io"
	"reflect"
)

// Stream is the elements of a tensor that are not in memory at once.
type Stream struct {
	// DType is the type in the file. The elements of F16 and BF16 are float32s, and are rounded to the nearest; it is
	// an error if that makes an infinity of a finite one.
	DType DType
	// Each calls write with slices of the elements, in order, and returns its first error. The
	// memory of a slice may be used again. A file is written in one pass, and what is sealed
	// and no file in two.
	Each func(write func(part any) error) error
}

// write writes the elements of a tensor.
func (t *Tensor) write(w io.Writer, buf []byte) error {
	stream, ok := t.Data.(Stream)
	if !ok {
		return writeData(w, t.DType, t.Data, buf)
	}
	n := 0
	err := stream.Each(func(part any) error {
		if reflect.TypeOf(part) != dtypes[t.DType].data {
			return fmt.Errorf("stream: got a %T, want a slice for %s", part, t.DType)
		}
		n += reflect.ValueOf(part).Len()
		return writeData(w, t.DType, part, buf)
	})
	if count, _ := countElements(t.Shape); err == nil && n != count {
		err = fmt.Errorf("stream: got %d elements, want %d", n, count)
	}
	return err
}
