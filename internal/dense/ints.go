// Package dense makes Gorgonia's tensors from slices and reads their elements as slices.
package dense

import (
	"strconv"
	"unsafe"

	"gorgonia.org/tensor"
)

// Ints returns an integer tensor's elements as int64s, which must not be changed, or nil for a
// tensor of another type.
func Ints(t *tensor.Dense) []int64 {
	switch t.Dtype() {
	case tensor.Int64:
		return t.Int64s()
	case tensor.Int:
		d := t.Ints()
		if strconv.IntSize == 64 { // then an int is an int64
			return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(d))), len(d))
		}
		ids := make([]int64, len(d))
		for i, id := range d {
			ids[i] = int64(id)
		}
		return ids
	}
	return nil
}
