package safetensors

import (
	"fmt"
	"io"
	"reflect"
)

// Stream yields the elements of a tensor that are not in memory all at the same time.
type Stream struct {
	// DType is the type in the file. Elements for F16 and BF16 are float32s, which are rounded to the nearest. A finite
	// element that becomes infinite is an error.
	DType DType
	// Each calls write with slices of the elements, in order, and returns its first error. The memory of a slice may be
	// used again. A file is written in one pass. Sealed data that do not go to a file are written in two passes.
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
