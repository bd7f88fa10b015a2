package safetensors

import (
	"bytes"
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// All 65536 numbers of both types have the values that IEEE 754 defines, with m of 10 or 7 bits M and a bias of 15 or 127:
// (-1)^sign · 2^(e-bias) · (1+m/2^M), or 2^(1-bias) · m/2^M if e is 0. A NaN keeps its payload.
func TestSixteenBitsToFloat32(t *testing.T) {
	for _, of := range []struct {
		name           string
		wide           func(uint16) float32
		mantissa, bias int
	}{{"half", FromHalf, 10, 15}, {"bfloat16", bfloat16ToFloat32, 7, 127}} {
		for i := range 1 << 16 {
			got := of.wide(uint16(i))
			scale := 1 << of.mantissa
			exponent, mantissa := i>>of.mantissa&(1<<(15-of.mantissa)-1), float64(i&(scale-1))
			var want float64
			switch {
			case exponent == 0:
				want = math.Ldexp(mantissa/float64(scale), 1-of.bias)
			case exponent <= 2*of.bias:
				want = math.Ldexp(1+mantissa/float64(scale), exponent-of.bias)
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
				t.Fatalf("%s %#04x: got %v, want %v", of.name, i, got, want)
			}
			if bits := math.Float32bits(got); got != got && bits&0x7fffff != uint32(i&(scale-1))<<(23-of.mantissa) {
				t.Fatalf("%s %#04x: NaN %#08x lost its payload", of.name, i, bits)
			}
		}
	}
}

// Rounding returns the nearest of all numbers of a type; of two equally near ones, the one with an even last bit.
func TestRound(t *testing.T) {
	for _, of := range []struct {
		dtype    DType
		wide     func(uint16) float32
		narrow   func(float32) uint16
		infinity uint16
	}{{F16, FromHalf, Half, 0x7c00}, {BF16, bfloat16ToFloat32, BFloat16, 0x7f80}} {
		for b := range of.infinity {
			low, high := of.wide(b), of.wide(b+1)
			if b+1 == of.infinity && of.dtype == F16 {
				high = 1 << 16 // the number that would follow 65504
			}
			if b+1 == of.infinity && of.dtype == BF16 {
				break // float32 has no number just above the middle
			}
			middle := float32((float64(low) + float64(high)) / 2)
			want := map[float32]uint16{low: b, math.Nextafter32(middle, 0): b, middle: b + b&1,
				math.Nextafter32(middle, high): b + 1}
			for x, bits := range want {
				if got := of.narrow(x); got != bits {
					t.Fatalf("%s of %v: got %#04x, want %#04x", of.dtype, x, got, bits)
				}
				if got := of.narrow(-x); got != bits|0x8000 && x != 0 {
					t.Fatalf("%s of %v: got %#04x, want %#04x", of.dtype, -x, got, bits|0x8000)
				}
				if got := Round(of.dtype, x); got != of.wide(bits) {
					t.Fatalf("%s of %v: got %v, want %v", of.dtype, x, got, of.wide(bits))
				}
			}
		}
		if x := Round(of.dtype, float32(math.NaN())); x == x {
			t.Fatalf("%s of NaN: got %v", of.dtype, x)
		}
		if x := Round(of.dtype, math.MaxFloat32); !math.IsInf(float64(x), 1) {
			t.Fatalf("%s of the largest: got %v, want +Inf", of.dtype, x)
		}
	}
}

// A stream of halves is read as it was written.
func TestWriteHalves(t *testing.T) {
	for _, dtype := range []DType{F16, BF16} {
		want := []float32{0, 1, -1.5, 0x1p-14, 240}
		var file bytes.Buffer
		err := Write(&file, &File{Tensors: []Tensor{{Name: "w", Shape: []int{5}, Data: Stream{dtype,
			func(write func(any) error) error { return cmp.Or(write(want[:2]), write(want[2:])) }}}}})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "w")
		if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if x := got.Tensors[0]; x.DType != dtype || !slices.Equal(x.Data.([]float32), want) {
			t.Fatalf("got %v, want %s %v", x, dtype, want)
		}
	}
}
