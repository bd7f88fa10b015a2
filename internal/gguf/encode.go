package gguf

import (
	"encoding/binary"
	"math"
	"slices"

	"attention/internal/safetensors"
)

// Stored numbers have ggml's bits: they are rounded to the nearest, ties to even, except bytes of Q8, whose ties are
// rounded away from zero.

func appendF32(dst []byte, elements []float32) []byte {
	for _, v := range elements {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}

func appendF16(dst []byte, elements []float32) []byte {
	for _, v := range elements {
		dst = binary.LittleEndian.AppendUint16(dst, safetensors.Half(v))
	}
	return dst
}

func appendBF16(dst []byte, elements []float32) []byte {
	for _, v := range elements {
		dst = binary.LittleEndian.AppendUint16(dst, safetensors.BFloat16(v))
	}
	return dst
}

// appendQ8 appends blocks: the scale, which is the largest magnitude/127 in half precision, and the numbers divided by
// the unrounded scale.
func appendQ8(dst []byte, elements []float32) []byte {
	for block := range slices.Chunk(elements, 32) {
		var largest float32
		for _, v := range block {
			largest = max(largest, float32(math.Abs(float64(v))))
		}
		scale, inverse := largest/127, float32(0)
		if scale != 0 {
			inverse = 1 / scale
		}
		dst = binary.LittleEndian.AppendUint16(dst, safetensors.Half(scale))
		for _, v := range block {
			dst = append(dst, byte(int8(math.Round(float64(v*inverse)))))
		}
	}
	return dst
}

// overflow returns the index of the first block without infinities whose stored form has one; −1 if there is no such
// block.
func overflow(t Type, stored []byte, elements []float32) int {
	exponent := map[Type]uint16{F16: 0x7c00, Q8: 0x7c00, BF16: 0x7f80}[t]
	if exponent == 0 {
		return -1
	}
	of := types[t]
	for at := 0; at < len(elements); at += of.block {
		bits := binary.LittleEndian.Uint16(stored[at/of.block*of.bytes:])
		if bits&exponent == exponent && !slices.ContainsFunc(elements[at:at+of.block], isInfinite) {
			return at
		}
	}
	return -1
}

// isInfinite reports whether v is infinite or NaN.
func isInfinite(v float32) bool { return v-v != 0 }
