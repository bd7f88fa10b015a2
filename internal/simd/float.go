package simd

import (
	"math"
	"unsafe"
)

// NegInf returns −∞: the maximum of nothing, and the score of a hidden key.
func NegInf[F Float]() F { return F(math.Inf(-1)) }

// Float is the element type of every kernel.
type Float interface{ float32 | float64 }

// SizeOf returns the size of an element in bytes.
func SizeOf[F Float]() int {
	var zero F
	return int(unsafe.Sizeof(zero))
}
