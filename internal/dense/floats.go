package dense

import (
	"fmt"
	"unsafe"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// IsFloat reports whether a type is float32 or float64.
func IsFloat(dt tensor.Dtype) bool { return dt == tensor.Float32 || dt == tensor.Float64 }

// Floats returns the memory of a contiguous tensor or a scalar of type F, of one element for a
// scalar. It panics for a value of another type.
func Floats[F float32 | float64](v G.Value) []F {
	switch v := v.(type) {
	case *tensor.Dense:
		var f F
		if _, ok := any(f).(float32); ok {
			return any(v.Float32s()).([]F)
		}
		return any(v.Float64s()).([]F)
	case *G.F32:
		return unsafe.Slice((*F)(unsafe.Pointer(v)), 1)
	case *G.F64:
		return unsafe.Slice((*F)(unsafe.Pointer(v)), 1)
	}
	panic(fmt.Sprintf("dense: floats: got a %T, want a tensor or a scalar of floats", v))
}

// SetFloats sets the elements of a contiguous tensor of floats to as many numbers.
func SetFloats(t *tensor.Dense, from []float64) {
	if t.Dtype() == tensor.Float64 {
		copy(t.Float64s(), from)
		return
	}
	for i, x := range from {
		t.Float32s()[i] = float32(x)
	}
}

// Float32s returns a copy of the elements of a contiguous tensor of floats from index lo up to
// hi, as float32s.
func Float32s(t *tensor.Dense, lo, hi int) []float32 {
	out := make([]float32, hi-lo)
	if IsStored(t.Dtype()) {
		Widen(out, t, lo)
		return out
	}
	if t.Dtype() == tensor.Float32 {
		copy(out, t.Float32s()[lo:hi])
		return out
	}
	for i, x := range t.Float64s()[lo:hi] {
		out[i] = float32(x)
	}
	return out
}

// Float64s returns a value's elements in row-major order as float64s, true as 1, or nil for a value that holds neither
// floats nor ints nor bools. The caller must not change them: for a contiguous float64 tensor they are its memory.
func Float64s(v G.Value) []float64 {
	t, err := RowMajor(v)
	if err != nil {
		return nil
	}
	switch all := Slice(Widened(t)).(type) {
	case []float64:
		return all
	case []float32:
		return converted(all, func(x float32) float64 { return float64(x) })
	case []int:
		return converted(all, func(x int) float64 { return float64(x) })
	case []int64:
		return converted(all, func(x int64) float64 { return float64(x) })
	case []bool:
		return converted(all, func(is bool) float64 {
			if is {
				return 1
			}
			return 0
		})
	}
	return nil
}

func converted[E any](from []E, convert func(E) float64) []float64 {
	to := make([]float64, len(from))
	for i, x := range from {
		to[i] = convert(x)
	}
	return to
}
