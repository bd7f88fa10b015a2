package dense

import "gorgonia.org/tensor"

// NotZero returns where a tensor of bools is true, or where one of integers or floats is not
// 0; nil for a tensor of another type. What it returns must not be changed.
func NotZero(t *tensor.Dense) []bool {
	switch t.Dtype() {
	case tensor.Bool:
		return t.Bools()
	case tensor.Float32:
		return notZero(t.Float32s())
	case tensor.Float64:
		return notZero(t.Float64s())
	case tensor.Int:
		return notZero(t.Ints())
	case tensor.Int8:
		return notZero(t.Int8s())
	case tensor.Int16:
		return notZero(t.Int16s())
	case tensor.Int32:
		return notZero(t.Int32s())
	case tensor.Int64:
		return notZero(t.Int64s())
	case tensor.Uint:
		return notZero(t.Uints())
	case tensor.Uint8:
		return notZero(t.Uint8s())
	case tensor.Uint16:
		return notZero(t.Uint16s())
	case tensor.Uint32:
		return notZero(t.Uint32s())
	case tensor.Uint64:
		return notZero(t.Uint64s())
	}
	return nil
}

func notZero[N comparable](x []N) []bool {
	var zero N
	is := make([]bool, len(x))
	for i, v := range x {
		is[i] = v != zero
	}
	return is
}
