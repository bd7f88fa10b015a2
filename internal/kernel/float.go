package kernel

import "unsafe"

// Float is the element type of every kernel.
type Float interface{ float32 | float64 }

// sizeOf returns the size of an element in bytes.
func sizeOf[F Float]() int {
	var zero F
	return int(unsafe.Sizeof(zero))
}
