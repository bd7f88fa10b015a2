package safetensors

import "math"

// FromHalf returns an IEEE 754 half-precision number as a float32. Every half has an exact float32,
// even a subnormal one and a NaN with its payload.
func FromHalf(h uint16) float32 {
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

// Round returns x rounded to the nearest number of a type of floats, ties to the even one. A number beyond the largest
// becomes an infinity.
func Round(d DType, x float32) float32 {
	switch d {
	case F16:
		return FromHalf(Half(x))
	case BF16:
		return bfloat16ToFloat32(BFloat16(x))
	}
	return x
}

// BFloat16 returns the bits of x rounded to the nearest bfloat16, ties to the even one. A NaN stays a NaN.
func BFloat16(x float32) uint16 {
	b := math.Float32bits(x)
	if x != x {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// Half returns the bits of x rounded to the nearest half-precision number, ties to the even one. A NaN stays a NaN.
func Half(x float32) uint16 {
	b := math.Float32bits(x)
	sign, size := uint16(b>>16)&0x8000, b&0x7fffffff
	switch {
	case size > 0x7f800000: // NaN
		return sign | 0x7e00
	case size >= 0x477ff000: // rounds to 2¹⁶ or more
		return sign | 0x7c00
	case size < 0x38800000: // below 2⁻¹⁴: a multiple of 2⁻²⁴, as the mantissa of a sum with 1/2
		sum := math.Float32frombits(size) + 0.5
		return sign | uint16(math.Float32bits(sum)-math.Float32bits(0.5))
	}
	size += 0xfff + size>>13&1 // of the 13 bits that are dropped
	return sign | uint16(size>>13-112<<10)
}
