package simd

import (
	"math"
	"testing"
)

// log32 is the rounded logarithm, or its neighbour.
func TestLog32(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, x := range []float32{0, math.SmallestNonzeroFloat32, 1, inf} {
		if got, want := log32(x), float32(math.Log(float64(x))); got != want {
			t.Errorf("log %v: got %v, want %v", x, got, want)
		}
	}
	if got := log32(float32(math.NaN())); got == got {
		t.Errorf("log NaN: got %v, want NaN", got)
	}
	for bits := uint32(1); bits < math.Float32bits(inf); bits += 4099 {
		x := math.Float32frombits(bits)
		got, want := log32(x), float32(math.Log(float64(x)))
		if got != want && got != math.Nextafter32(want, got) {
			t.Fatalf("log %v: got %v, want %v", x, got, want)
		}
	}
}

// logarithms has the bits of log32, whatever else is among the numbers.
func TestLogarithms(t *testing.T) {
	for _, p := range Sets() {
		onSet(t, p)
		x, y := make([]float32, 1003), make([]float32, 1003)
		for bits := uint32(0); bits < 1<<23; bits += 7 * 1003 { // a mantissa near all others, and every exponent
			for i := range x {
				x[i] = math.Float32frombits((1+bits*uint32(i)%254)<<23 | (bits+7*uint32(i))&(1<<23-1))
			}
			if bits%2 == 0 {
				x[17] = []float32{0, 0x1p-149, float32(math.Inf(1)), 1}[bits>>3%4]
			}
			Logarithms(y, x)
			for i, v := range x {
				if want := log32(v); y[i] != want {
					t.Fatalf("%v: log %v: got %v, want %v", p, v, y[i], want)
				}
			}
		}
		// The two numbers between which the exponent changes.
		x, y = []float32{math.Float32frombits(0x3f3504f2), math.Float32frombits(0x3f3504f3)}, make([]float32, 2)
		if Logarithms(y, x); y[0] != log32(x[0]) || y[1] != log32(x[1]) {
			t.Errorf("%v: log %v: got %v", p, x, y)
		}
		z := []float64{0, 0.5, 3, 1e300}
		got := make([]float64, len(z))
		Logarithms(got, z)
		for i, v := range z {
			if got[i] != math.Log(v) {
				t.Errorf("log %v: got %v, want %v", v, got[i], math.Log(v))
			}
		}
	}
}

// MinusLog1p has the bits of log1p, at zeros, infinities and NaN too, and writes no more than its length.
func TestMinusLog1p(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, p := range Sets() {
		onSet(t, p)
		for n := range 70 {
			x, e, y, want := make([]float32, n), make([]float32, n), make([]float32, n+1), make([]float32, n)
			for i := range x {
				x[i] = []float32{0, float32(math.Copysign(0, -1)), inf, -inf, float32(math.NaN()), 1e-30, -1e30, 88}[i%8]
				if i >= 8 {
					x[i] = float32(i*i-900) / 37
				}
				e[i] = float32(math.Exp(-math.Abs(float64(x[i]))))
			}
			y[n] = 7
			MinusLog1p(y[:n], x, e)
			minusLog1pGo(want, x, e)
			for i, v := range want {
				if math.Float32bits(y[i]) != math.Float32bits(v) && !(v != v && y[i] != y[i]) {
					t.Errorf("%v: n=%d: x %v: got %v, want %v", p, n, x[i], y[i], v)
				}
			}
			if y[n] != 7 {
				t.Errorf("%v: n=%d: wrote behind the end", p, n)
			}
		}
	}
}
