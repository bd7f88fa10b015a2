package dense

import (
	"reflect"

	"gorgonia.org/tensor"
)

// Rows returns the rows from lo to hi−1, along the first axis, of a row-major tensor, in its memory.
func Rows(t *tensor.Dense, lo, hi int) *tensor.Dense {
	all, width := reflect.ValueOf(Slice(t)), t.Shape().TotalSize()/t.Shape()[0]
	shape := append(tensor.Shape{hi - lo}, t.Shape()[1:]...)
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(all.Slice(lo*width, hi*width).Interface()))
}
