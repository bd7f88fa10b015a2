package dense

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// RowMajor returns a value as a tensor with its elements one behind the other in row-major
// order: the tensor itself, or a copy.
func RowMajor(v G.Value) (*tensor.Dense, error) {
	t, ok := v.(*tensor.Dense)
	if !ok {
		if scalar, ok := v.(G.Scalar); ok {
			return tensor.New(tensor.FromScalar(scalar.Data())), nil
		}
		return nil, fmt.Errorf("got a %T, want a *tensor.Dense or a scalar", v)
	}
	if IsRowMajor(t) {
		return t, nil
	}
	if c, ok := t.Materialize().(*tensor.Dense); ok && IsRowMajor(c) {
		return c, nil
	}
	switch data := t.Data().(type) { // a copy, if there was one, is left in column-major order
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

// Copy returns a copy of a value as a tensor in row-major order.
func Copy(v G.Value) (*tensor.Dense, error) {
	t, err := RowMajor(v)
	if err == nil && G.Value(t) == v {
		t = t.Clone().(*tensor.Dense)
	}
	return t, err
}

// IsRowMajor reports whether a tensor's elements are contiguous in memory, in row-major order.
func IsRowMajor(t *tensor.Dense) bool { return !t.RequiresIterator() && !t.DataOrder().IsColMajor() }

// gather returns a copy of a tensor whose elements are in data.
func gather[E any](t *tensor.Dense, data []E) *tensor.Dense {
	shape, strides := t.Shape(), t.Strides()
	if len(strides) < len(shape) { // for a row, a column or a number
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
