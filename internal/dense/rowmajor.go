package dense

import (
	"fmt"
	"slices"

	"gorgonia.org/tensor"
)

// RowMajor returns a tensor with its elements one behind the other in row-major order: itself,
// or a copy.
func RowMajor(t *tensor.Dense) (*tensor.Dense, error) {
	if isRowMajor(t) {
		return t, nil
	}
	if c, ok := t.Materialize().(*tensor.Dense); ok && isRowMajor(c) {
		return c, nil
	}
	switch data := t.Data().(type) { // which the copy, if there was one, left in column-major order
	case []float32:
		return gather(t, data), nil
	case []float64:
		return gather(t, data), nil
	case []int:
		return gather(t, data), nil
	case []int64:
		return gather(t, data), nil
	case []bool:
		return gather(t, data), nil
	}
	return nil, fmt.Errorf("got a tensor of %v in column-major order, want row-major", t.Dtype())
}

func isRowMajor(t *tensor.Dense) bool { return !t.RequiresIterator() && !t.DataOrder().IsColMajor() }

// gather returns a copy of a tensor whose elements lie in data.
func gather[E any](t *tensor.Dense, data []E) *tensor.Dense {
	shape, strides := t.Shape(), t.Strides()
	if len(strides) < len(shape) { // a row, a column or a number
		shape, strides = tensor.Shape{shape.TotalSize()}, append(slices.Clone(strides), 1)[:1]
	}
	all := make([]E, shape.TotalSize())
	for i := range all {
		at, rest := 0, i
		for axis := len(shape) - 1; axis >= 0; axis-- {
			at += rest % shape[axis] * strides[axis]
			rest /= shape[axis]
		}
		all[i] = data[at]
	}
	return tensor.New(tensor.WithShape(t.Shape()...), tensor.WithBacking(all))
}
