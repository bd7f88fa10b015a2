package dense

import (
	"unsafe"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// ByType returns one of two values, usually functions, by the type dt: the first for float32, the second for float64.
func ByType[T any](dt tensor.Dtype, of32, of64 T) T {
	if dt == tensor.Float32 {
		return of32
	}
	return of64
}

// TypeOf returns the type of elements F.
func TypeOf[F float32 | float64]() tensor.Dtype {
	if unsafe.Sizeof(*new(F)) == 4 {
		return tensor.Float32
	}
	return tensor.Float64
}

// NewScalar returns a new scalar 0 of type dt: float32, float64 or int.
func NewScalar(dt tensor.Dtype) G.Value {
	switch dt {
	case tensor.Float32:
		return G.NewF32(0)
	case tensor.Int:
		return G.NewI(0)
	}
	return G.NewF64(0)
}
