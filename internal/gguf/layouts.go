package gguf

import "attention/internal/simd"

// layout says how a block of 256 numbers is decoded: the positions of its numbers, and a function that sets their
// scales and returns the summands.
type layout struct {
	*simd.Layout
	factors func(f *factors, block []byte) (plus *[16]float32)
}

// twoBits are the positions of low bits in pairs, and of high bits one by one, 16 after 16.
func twoBits(low, high int) func(j int) simd.Run {
	return func(j int) simd.Run {
		return simd.Run{Low: low + j/8*32 + j%2*16, LowShift: j % 8 / 2 * 2, High: high + j%2*16, HighShift: j / 2}
	}
}

// fourBits are the places of low bits in fours, of 64 numbers in 32 bytes, and of high bits one by one.
func fourBits(low, high int) func(j int) simd.Run {
	return func(j int) simd.Run {
		return simd.Run{Low: low + j/4*32 + j%2*16, LowShift: j / 2 % 2 * 4, High: high + j%2*16, HighShift: j / 2}
	}
}

// sixBits are the places of low bits in fours, of 128 numbers in 64 bytes, and of high bits in pairs.
func sixBits(j int) simd.Run {
	return simd.Run{Low: j/8*64 + j%4*16, LowShift: j % 8 / 4 * 4, High: 128 + j/8*32 + j%2*16, HighShift: j % 8 / 2 * 2}
}

// nibblesOf32 are the places of low bits in fours, of 32 numbers in 16 bytes.
func nibblesOf32(j int) simd.Run { return simd.Run{Low: 8 + j/2*16, LowShift: j % 2 * 4} }

// counted returns consecutive numbers beginning with a given one.
func counted(first int8) (table [16]int8) {
	for i := range table {
		table[i] = first + int8(i)
	}
	return table
}

// equal returns 16 equal numbers.
func equal(v int8) (all [16]int8) {
	for i := range all {
		all[i] = v
	}
	return all
}

// iq4 are the numbers that 4 bits of IQ4_NL and IQ4_XS represent.
var iq4 = [16]int8{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}
