package simd

import (
	"math"
	"unsafe"
)

// RoundBF16 returns x rounded to the nearest bfloat16, and to the even one of two equally near ones. Numbers below the
// smallest normal one become 0, and numbers above the largest become infinite.
func RoundBF16(v float32) float32 {
	const (
		sign, exponent, quiet = 1 << 31, 0xff << 23, 1 << 22
		lowBits               = 1<<16 - 1
	)
	bits := math.Float32bits(v)
	switch {
	case v != v:
		bits |= quiet
	case bits&exponent == 0:
		bits &= sign
	default:
		bits += lowBits>>1 + bits>>16&1
	}
	return math.Float32frombits(bits &^ lowBits)
}

func roundElementsGo(x, y []float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = RoundBF16(v)
	}
}

// Singles returns a slice of F as a slice of float32.
func Singles[F Float](x []F) []float32 {
	if SizeOf[F]() != 4 {
		panic("simd: bf16 of float64")
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}
