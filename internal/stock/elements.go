package stock

import (
	"unsafe"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// floats returns the memory of a tensor or a scalar of type F.
func floats[F kernel.Float](v G.Value) []F {
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
	panic("stock: not a tensor or a scalar of floats")
}
