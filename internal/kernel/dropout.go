package kernel

import (
	"math"

	"attention/internal/parallel"
)

// Dropout writes x·1/(1−p) where an element is kept and x·0 where it is dropped: 0, or NaN for a NaN or ∞.
// Element i is kept when hash(key, site, i) ≥ p·2⁶⁴, so any part of the mask can
// be made again at any time. y may be x.
func Dropout[F Float](y, x []F, p float64, key int64, site int) {
	seed := mix(mix(uint64(key)) + uint64(site)*golden)
	dropBelow := uint64(p * math.Exp2(64))
	scale := F(1 / (1 - p))
	parallel.For(len(x), 1<<14, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			v := x[i] - x[i] // never −0, as x·0 may be
			if mix(seed+uint64(i)*golden) >= dropBelow {
				v = x[i] * scale
			}
			y[i] = v
		}
	})
}

// golden is 2⁶⁴ divided by the golden ratio, the step of SplitMix64.
const golden = 0x9e3779b97f4a7c15

// mix is the output function of SplitMix64 (Steele, Lea and Flood 2014): every
// bit of the result depends on every bit of z.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
