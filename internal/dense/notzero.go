package dense

import (
	"slices"

	"gorgonia.org/tensor"
)

// NotZero reports for each element whether it is true in a tensor of bools, or not 0 in a tensor of integers or floats.
// It returns nil for a tensor of another type. The caller must not change the result, which may share memory with room
// or the tensor. other is the first element that is neither 0 nor 1, or −1.
func NotZero(t *tensor.Dense, room []bool) (is []bool, other int) {
	switch t.Dtype() {
	case tensor.Bool:
		return t.Bools(), -1
	case tensor.Float32:
		return notZero(t.Float32s(), room)
	case tensor.Float64:
		return notZero(t.Float64s(), room)
	case tensor.Int:
		return notZero(t.Ints(), room)
	case tensor.Int8:
		return notZero(t.Int8s(), room)
	case tensor.Int16:
		return notZero(t.Int16s(), room)
	case tensor.Int32:
		return notZero(t.Int32s(), room)
	case tensor.Int64:
		return notZero(t.Int64s(), room)
	case tensor.Uint:
		return notZero(t.Uints(), room)
	case tensor.Uint8:
		return notZero(t.Uint8s(), room)
	case tensor.Uint16:
		return notZero(t.Uint16s(), room)
	case tensor.Uint32:
		return notZero(t.Uint32s(), room)
	case tensor.Uint64:
		return notZero(t.Uint64s(), room)
	}
	return nil, -1
}

func notZero[N number](x []N, room []bool) (is []bool, other int) {
	is, other = slices.Grow(room[:0], len(x))[:len(x)], -1
	for i, v := range x {
		is[i] = v != 0
		if other < 0 && v != 0 && v != 1 {
			other = i
		}
	}
	return is, other
}

type number interface {
	int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64 | float32 | float64
}
