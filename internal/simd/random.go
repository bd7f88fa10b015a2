package simd

// golden is 2⁶⁴ divided by the golden ratio, the step of SplitMix64.
const Golden = 0x9e3779b97f4a7c15

// Mix is the output function of SplitMix64 (Steele, Lea and Flood 2014): every
// bit of the result depends on every bit of z.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
