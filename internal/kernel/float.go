package kernel

import (
	"sync"

	"attention/internal/simd"
)

// Float is the element type of every kernel.
type Float = simd.Float

// pools keep values for reuse: one for float32 and one for float64.
type pools [2]sync.Pool

// newPools returns pools of new values.
func newPools[Of32, Of64 any]() pools {
	return pools{{New: func() any { return new(Of32) }}, {New: func() any { return new(Of64) }}}
}

func poolOf[F Float](p *pools) *sync.Pool { return &p[simd.SizeOf[F]()/8] }
