package gguf

import (
	"encoding/binary"
	"math"
)

// What is stored has ggml's bits: it rounds to the nearest, ties to even, but a byte of Q8, whose
// ties go away from zero.

func appendF32(dst []byte, block []float32) []byte {
	return binary.LittleEndian.AppendUint32(dst, math.Float32bits(block[0]))
}

func appendF16(dst []byte, block []float32) []byte {
	return binary.LittleEndian.AppendUint16(dst, half(block[0]))
}

func appendBF16(dst []byte, block []float32) []byte {
	return binary.LittleEndian.AppendUint16(dst, brain(block[0]))
}

// appendQ8 appends a block's scale, its largest magnitude/127 in half precision, and its numbers over the
// scale before that was rounded.
func appendQ8(dst []byte, block []float32) []byte {
	var largest float32
	for _, v := range block {
		largest = max(largest, float32(math.Abs(float64(v))))
	}
	scale, inverse := largest/127, float32(0)
	if scale != 0 {
		inverse = 1 / scale
	}
	dst = binary.LittleEndian.AppendUint16(dst, half(scale))
	for _, v := range block {
		dst = append(dst, byte(int8(math.Round(float64(v*inverse)))))
	}
	return dst
}

// half returns the nearest IEEE 754 half-precision number; beyond 65504 that may be infinity.
func half(f float32) uint16 {
	bits := math.Float32bits(f)
	sign, size := uint16(bits>>16)&0x8000, bits&0x7fffffff
	switch {
	case size > 0x7f800000:
		return sign | 0x7e00 // NaN
	case size >= 0x47800000: // from 2¹⁶ on
		return sign | 0x7c00
	case size < 0x38800000: // below 2⁻¹⁴: a multiple of 2⁻²⁴
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(size))*0x1p24))
	}
	size -= (127 - 15) << 23
	return sign | uint16((size+0xfff+size>>13&1)>>13)
}

// brain returns the nearest bfloat16, the upper half of a float32.
func brain(f float32) uint16 {
	bits := math.Float32bits(f)
	if f != f {
		return uint16(bits>>16) | 0x40 // still NaN without the lower half
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

// overflows reports whether a stored block has an infinity or NaN that its numbers had not.
func overflows(t Type, stored []byte, block []float32) bool {
	var infinite bool
	switch bits := binary.LittleEndian.Uint16(stored); t {
	case F16, Q8:
		infinite = bits&0x7c00 == 0x7c00
	case BF16:
		infinite = bits&0x7f80 == 0x7f80
	}
	if !infinite {
		return false
	}
	for _, v := range block {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return false
		}
	}
	return true
}
