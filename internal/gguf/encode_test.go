package gguf

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// widened returns the value of a half-precision number by its definition.
func widened(h uint16) float64 {
	sign, exponent, mantissa := 1-2*float64(h>>15), int(h>>10&31), float64(h&1023)
	if exponent == 0 {
		return sign * math.Ldexp(mantissa, -24)
	}
	return sign * math.Ldexp(1024+mantissa, exponent-25)
}

// Each number goes to the nearest half-precision number, from the middle of two to the even one.
func TestHalf(t *testing.T) {
	const halves = 0x7c00 // the finite ones from 0 on
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 300_000 {
		h := uint16(i % (halves - 1))
		low, high := widened(h), widened(h+1)
		v := float32(low + (high-low)*[]float64{0, 0.5, r.Float64()}[i/halves%3])
		want := h
		switch middle := (low + high) / 2; {
		case float64(v) > middle || float64(v) == middle && h%2 == 1:
			want = h + 1
		}
		require.Equal(t, want, half(v), v)
		require.Equal(t, want|0x8000, half(-v), -v)
	}
	for _, c := range []struct {
		v    float32
		want uint16
	}{
		{65504, 0x7bff}, {65519.996, 0x7bff}, {65520, 0x7c00}, {65536, 0x7c00}, {math.MaxFloat32, 0x7c00},
		{float32(math.Inf(-1)), 0xfc00}, {0x1p-25, 0}, {0x1.8p-25, 1}, {1e-45, 0},
	} {
		assert.Equal(t, c.want, half(c.v), c.v)
	}
	nan := half(float32(math.NaN()))
	assert.True(t, nan&0x7c00 == 0x7c00 && nan&0x3ff != 0)
}

func TestBrain(t *testing.T) {
	for _, c := range []struct{ bits, want uint32 }{
		{0x3f800000, 0x3f80}, {0x3f808000, 0x3f80}, {0x3f808001, 0x3f81}, {0x3f818000, 0x3f82}, {0x3f817fff, 0x3f81},
		{0x80000001, 0x8000}, {0x00008001, 0x0001}, // subnormal ones are kept, as ggml keeps them
		{0x7f7fffff, 0x7f80}, {0xff800000, 0xff80}, {0x7f800001, 0x7fc0},
	} {
		assert.Equal(t, uint16(c.want), brain(math.Float32frombits(c.bits)), "%#x", c.bits)
	}
}

// A block's numbers come back within half a step, and its scale is the largest number's.
func TestQ8(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		block := make([]float32, 32)
		for i := range block {
			block[i] = float32(r.NormFloat64() * 0.1)
		}
		stored := appendQ8(nil, block)
		require.Len(t, stored, 34)
		scale := widened(binary.LittleEndian.Uint16(stored))
		for i, v := range block {
			// Half a step, and the rounding of the scale, which counts at the largest number.
			require.InDelta(t, v, scale*float64(int8(stored[2+i])), 0.5*scale+127*scale*0x1p-11, i)
		}
		require.Contains(t, []int8{127, -127}, slices.MaxFunc(int8s(stored[2:]), func(a, b int8) int {
			return max(int(a), -int(a)) - max(int(b), -int(b))
		}))
	}
	// The largest is 127: the scale is 1, and ties go away from zero.
	stored := appendQ8(nil, append([]float32{127, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997}, make([]float32, 25)...))
	assert.Equal(t, []int8{127, 1, -1, 2, 3, -3, 0}, int8s(stored[2:9]))
	assert.Equal(t, make([]byte, 34), appendQ8(nil, make([]float32, 32)), "all zeros")
}

func int8s(b []byte) (to []int8) {
	for _, v := range b {
		to = append(to, int8(v))
	}
	return to
}
