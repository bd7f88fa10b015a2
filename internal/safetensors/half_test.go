package safetensors

import (
	"math"
	"testing"
)

// All 65536 halves have the values that IEEE 754 defines:
// (-1)^sign · 2^(e-15) · (1+m/1024), or 2^-14 · m/1024 if e is 0.
func TestHalfToFloat32(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		got := halfToFloat32(h)
		exponent, mantissa := i>>10&31, float64(i&1023)
		var want float64
		switch {
		case exponent == 0:
			want = math.Ldexp(mantissa/1024, -14)
		case exponent < 31:
			want = math.Ldexp(1+mantissa/1024, exponent-15)
		case mantissa == 0:
			want = math.Inf(1)
		default:
			want = math.NaN()
		}
		if i>>15 == 1 {
			want = -want
		}
		same := float64(got) == want || got != got && want != want
		if !same || math.Signbit(float64(got)) != (i>>15 == 1) {
			t.Fatalf("half %#04x: got %v, want %v", h, got, want)
		}
		if bits := math.Float32bits(got); got != got && bits&0x7fffff != uint32(i&1023)<<13 {
			t.Fatalf("half %#04x: NaN %#08x lost its payload", h, bits)
		}
	}
}

// A bfloat16 is a float32's upper bits. The values are checked by the formula, as above.
func TestBfloat16ToFloat32(t *testing.T) {
	for i := range 1 << 16 {
		got := bfloat16ToFloat32(uint16(i))
		exponent, mantissa := i>>7&255, float64(i&127)
		var want float64
		switch {
		case exponent == 0:
			want = math.Ldexp(mantissa/128, -126)
		case exponent < 255:
			want = math.Ldexp(1+mantissa/128, exponent-127)
		case mantissa == 0:
			want = math.Inf(1)
		default:
			want = math.NaN()
		}
		if i>>15 == 1 {
			want = -want
		}
		same := float64(got) == want || got != got && want != want
		if !same || math.Signbit(float64(got)) != (i>>15 == 1) {
			t.Fatalf("bfloat16 %#04x: got %v, want %v", i, got, want)
		}
	}
}
