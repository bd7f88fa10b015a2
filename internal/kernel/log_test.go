package kernel

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
