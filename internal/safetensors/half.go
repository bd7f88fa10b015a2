package safetensors

import "math"

// halfToFloat32 widens an IEEE 754 half-precision number. Every half has an exact float32,
// even a subnormal one and a NaN with its payload.
func halfToFloat32(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exponent := uint32(h>>10) & 0x1f
	mantissa := uint32(h) & 0x3ff
	switch exponent {
	case 0: // zero or subnormal: mantissa · 2⁻²⁴
		v := float32(mantissa) * 0x1p-24
		return math.Float32frombits(sign | math.Float32bits(v))
	case 0x1f: // infinity or NaN
		return math.Float32frombits(sign | 0xff<<23 | mantissa<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | mantissa<<13)
}

// bfloat16ToFloat32 widens a bfloat16, which is the upper half of a float32.
func bfloat16ToFloat32(b uint16) float32 {
	return math.Float32frombits(uint32(b) << 16)
}
