package gguf

import (
	"encoding/binary"
	"math"
	"sync"

	"attention/internal/simd"
)

// decode sets dst to the numbers of whole blocks. The products and sums are those of the Python package gguf, in
// float32 and in its order.
func (of form) decode(dst []float32, blocks []byte) {
	switch {
	case of.direct != nil:
		of.direct(dst, blocks)
	case of.blocks != nil:
		of.blocks.Unpack(dst, blocks)
	default:
		f := factorsPool.Get().(*factors)
		for ; len(dst) > 0; dst, blocks = dst[of.block:], blocks[of.bytes:] {
			plus := of.layout.factors(f, blocks)
			of.layout.Unpack(dst[:of.block], blocks[:of.bytes], &f.scale, plus)
		}
		factorsPool.Put(f)
	}
}

// factors holds the scales and summands of 256 numbers; each 16 numbers share one of each.
type factors struct{ scale, plus [16]float32 }

var factorsPool = sync.Pool{New: func() any { return new(factors) }}

// nothing is a summand that changes no number, not even −0.
var nothing = func() (all [16]float32) {
	for i := range all {
		all[i] = float32(math.Copysign(0, -1))
	}
	return all
}()

// half returns the half-precision number at an offset.
func half(b []byte, at int) float32 { return simd.Half(binary.LittleEndian.Uint16(b[at:])) }

func decodeF32(y []float32, x []byte) {
	for i := range y {
		y[i] = math.Float32frombits(binary.LittleEndian.Uint32(x[4*i:]))
	}
}

func decodeBF16(y []float32, x []byte) {
	for i := range y {
		y[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(x[2*i:])) << 16)
	}
}

// Each function below sets the scales of a block and returns what is added to its numbers. d is the scale of the block,
// m what is subtracted from its numbers.

// two sets the scales of runs i and i+1.
func (f *factors) two(i int, d float32) { f.scale[i&15], f.scale[(i+1)&15] = d, d }

func factorsQ2K(f *factors, x []byte) *[16]float32 {
	d, m := half(x, 80), half(x, 82)
	for j, s := range x[:16] {
		f.scale[j], f.plus[j] = d*float32(s&15), -(m * float32(s>>4))
	}
	return &f.plus
}

func factorsQ3K(f *factors, x []byte) *[16]float32 {
	scales, d := x[96:108], half(x, 108)
	for j := range f.scale {
		s := int(scales[j%8]>>(j/8*4)&15 | scales[8+j%4]>>(j/4*2)&3<<4)
		f.scale[j] = d * float32(s-32)
	}
	return &nothing
}

// factorsQ45K sets the scales of Q4_K and Q5_K. The scale and the minimum of each 32 numbers have 6 bits.
func factorsQ45K(f *factors, x []byte) *[16]float32 {
	d, m := half(x, 0), half(x, 2)
	first, second, third := binary.LittleEndian.Uint32(x[4:]), binary.LittleEndian.Uint32(x[8:]),
		binary.LittleEndian.Uint32(x[12:])
	const six, four, two = 0x3f3f3f3f, 0x0f0f0f0f, 0x03030303
	scales := uint64(first&six) | uint64(third&four|first>>6&two<<4)<<32
	least := uint64(second&six) | uint64(third>>4&four|second>>6&two<<4)<<32
	for j := 0; j < 16; j += 2 {
		f.two(j, d*float32(scales&255))
		plus := -(m * float32(least&255))
		f.plus[j], f.plus[j+1] = plus, plus
		scales, least = scales>>8, least>>8
	}
	return &f.plus
}

func factorsQ6K(f *factors, x []byte) *[16]float32 {
	d := half(x, 208)
	for j, s := range x[192:208] {
		f.scale[j] = d * float32(int8(s))
	}
	return &nothing
}

func factorsIQ4XS(f *factors, x []byte) *[16]float32 {
	d, high := half(x, 0), binary.LittleEndian.Uint16(x[2:])
	for j := range 8 {
		s := int(x[4+j/2]>>(j%2*4)&15) | int(high>>(2*j)&3)<<4
		f.two(2*j, d*float32(s-32))
	}
	return &nothing
}
