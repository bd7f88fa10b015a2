package kernel

import (
	"math"

	"attention/internal/parallel"
	"attention/internal/simd"
)

// Dropout writes x·1/(1−p) where an element is kept and x·0 where it is dropped: 0, or NaN for a NaN or ∞. Element i is
// kept when hash(key, site, i) ≥ p·2⁶⁴, so any part of the mask can be computed again at any time. y may be x.
func Dropout[F Float](y, x []F, p float64, key int64, site int) {
	seed := simd.Mix(simd.Mix(uint64(key)) + uint64(site)*simd.Golden)
	dropBelow := uint64(p * math.Exp2(64))
	scale := F(1 / (1 - p))
	parallel.For(len(x), 1<<14, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			v := x[i] - x[i] // never −0, as x·0 may be
			if simd.Mix(seed+uint64(i)*simd.Golden) >= dropBelow {
				v = x[i] * scale
			}
			y[i] = v
		}
	})
}
