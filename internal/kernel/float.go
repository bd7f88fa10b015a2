package kernel

import (
	"sync"
	"unsafe"
)

// Float is the element type of every kernel.
type Float interface{ float32 | float64 }

// sizeOf returns the size of an element in bytes.
func sizeOf[F Float]() int {
	var zero F
	return int(unsafe.Sizeof(zero))
}

// pools keep values for reuse: one for float32 and one for float64.
type pools [2]sync.Pool

// newPools returns pools of new values.
func newPools[Of32, Of64 any]() pools {
	return pools{{New: func() any { return new(Of32) }}, {New: func() any { return new(Of64) }}}
}

func poolOf[F Float](p *pools) *sync.Pool { return &p[sizeOf[F]()/8] }
