package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// onSet runs the rest of the test on one instruction set.
func onSet(t testing.TB, s Set) {
	before := Use(s)
	t.Cleanup(func() { Use(before) })
}

// equalBits reports whether two numbers are the same to the bit, or both NaN.
func equalBits(x, y float32) bool {
	return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
}

// anyBits returns numbers of which many are special: near the smallest and the largest ones, infinite, NaN, 0.
func anyBits(r *rand.Rand, x []float32) {
	for i := range x {
		bits := r.Uint32()
		switch r.IntN(8) {
		case 0:
			bits &^= 0x7f800000 // denormal
		case 1:
			bits = bits&^0x7f000000 | 0x00800000 // near the smallest
		case 2:
			bits = bits&0x80000000 | []uint32{0, 0x7f800000, 0x7fc00000, 0x7f800001, 0x7f7fffff, 0x00800000, 0x007fffff,
				0x3f800000, 0x20000000, 0x1f800000}[r.IntN(10)]
		case 3, 4:
			bits = bits&0x80ffffff | 0x3f000000 // near 1
		case 5:
			bits = bits&0x81ffffff | 0x1e000000 // whose products are near the smallest
		}
		x[i] = math.Float32frombits(bits)
	}
}
