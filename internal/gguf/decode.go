package gguf

import (
	"encoding/binary"
	"math"

	"attention/internal/safetensors"
)

// Each function decodes one block. d is the scale of a block, m what is added to or subtracted from its numbers, qs
// holds 4 or 2 bits of each number and qh those above. The products and sums are those of the Python package gguf, in
// float32 and in its order; a conversion around a product keeps it from being fused with a sum.

// half returns the half-precision number at an offset.
func half(b []byte, at int) float32 { return safetensors.FromHalf(binary.LittleEndian.Uint16(b[at:])) }

func decodeF32(y []float32, x []byte) { y[0] = math.Float32frombits(binary.LittleEndian.Uint32(x)) }

func decodeF16(y []float32, x []byte) { y[0] = half(x, 0) }

func decodeBF16(y []float32, x []byte) {
	y[0] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(x)) << 16)
}

// nibbles calls a function with each of the 32 numbers of 16 bytes: the low halves come first.
func nibbles(qs []byte, each func(i int, q byte)) {
	for i, b := range qs[:16] {
		each(i, b&15)
		each(i+16, b>>4)
	}
}

func decodeQ4(y []float32, x []byte) {
	d := half(x, 0)
	nibbles(x[2:], func(i int, q byte) { y[i] = d * float32(int(q)-8) })
}

func decodeQ41(y []float32, x []byte) {
	d, m := half(x, 0), half(x, 2)
	nibbles(x[4:], func(i int, q byte) { y[i] = float32(d*float32(q)) + m })
}

func decodeQ5(y []float32, x []byte) {
	d, qh := half(x, 0), binary.LittleEndian.Uint32(x[2:])
	nibbles(x[6:], func(i int, q byte) { y[i] = d * float32(int(q)|int(qh>>i&1)<<4-16) })
}

func decodeQ51(y []float32, x []byte) {
	d, m, qh := half(x, 0), half(x, 2), binary.LittleEndian.Uint32(x[4:])
	nibbles(x[8:], func(i int, q byte) { y[i] = float32(d*float32(int(q)|int(qh>>i&1)<<4)) + m })
}

func decodeQ8(y []float32, x []byte) {
	d := half(x, 0)
	for i, q := range x[2:] {
		y[i] = float32(int8(q)) * d
	}
}

func decodeQ2K(y []float32, x []byte) {
	scales, qs, d, m := x[:16], x[16:80], half(x, 80), half(x, 82)
	for i := range y {
		s := scales[i/16]
		q := qs[i/128*32+i%32] >> (i % 128 / 32 * 2) & 3
		y[i] = float32(float32(d*float32(s&15))*float32(q)) - float32(m*float32(s>>4))
	}
}

func decodeQ3K(y []float32, x []byte) {
	qh, qs, scales, d := x[:32], x[32:96], x[96:108], half(x, 108)
	for i := range y {
		j := i / 16
		s := int(scales[j%8]>>(j/8*4)&15 | scales[8+j%4]>>(j/4*2)&3<<4)
		q := int(qs[i/128*32+i%32] >> (i % 128 / 32 * 2) & 3)
		if qh[i%32]>>(i/32)&1 == 0 {
			q -= 4
		}
		y[i] = float32(d*float32(s-32)) * float32(q)
	}
}

// scaleMin returns the scale and the minimum, 6 bits each, of group j of the 8 of a block of Q4_K or Q5_K.
func scaleMin(scales []byte, j int) (scale, least float32) {
	if j < 4 {
		return float32(scales[j] & 63), float32(scales[j+4] & 63)
	}
	return float32(scales[j+4]&15 | scales[j-4]>>6<<4), float32(scales[j+4]>>4 | scales[j]>>6<<4)
}

func decodeQ4K(y []float32, x []byte) { decodeQ45K(y, x, x[16:], nil) }

func decodeQ5K(y []float32, x []byte) { decodeQ45K(y, x, x[48:], x[16:48]) }

// decodeQ45K decodes a block of Q4_K, or with the fifth bits in qh of Q5_K.
func decodeQ45K(y []float32, x, qs, qh []byte) {
	d, m := half(x, 0), half(x, 2)
	for j := range 8 {
		scale, least := scaleMin(x[4:16], j)
		scale, least = d*scale, m*least
		for l := range 32 {
			q := qs[j/2*32+l] >> (j % 2 * 4) & 15
			if qh != nil {
				q |= qh[l] >> j & 1 << 4
			}
			y[j*32+l] = float32(scale*float32(q)) - least
		}
	}
}

func decodeQ6K(y []float32, x []byte) {
	ql, qh, scales, d := x[:128], x[128:192], x[192:208], half(x, 208)
	for i := range y {
		h, g, l := i/128, i%128/32, i%32
		q := int(ql[h*64+g%2*32+l]>>(g/2*4)&15 | qh[h*32+l]>>(g*2)&3<<4)
		y[i] = float32(d*float32(int8(scales[i/16]))) * float32(q-32)
	}
}

// iq4 are the numbers that 4 bits of IQ4_NL and IQ4_XS stand for.
var iq4 = [16]float32{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

func decodeIQ4NL(y []float32, x []byte) {
	d := half(x, 0)
	nibbles(x[2:], func(i int, q byte) { y[i] = d * iq4[q] })
}

func decodeIQ4XS(y []float32, x []byte) {
	d, high := half(x, 0), binary.LittleEndian.Uint16(x[2:])
	for j := range 8 {
		s := int(x[4+j/2]>>(j%2*4)&15) | int(high>>(2*j)&3)<<4
		scale := d * float32(s-32)
		nibbles(x[8+16*j:], func(i int, q byte) { y[32*j+i] = scale * iq4[q] })
	}
}
