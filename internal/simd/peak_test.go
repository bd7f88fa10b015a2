package simd

import "testing"

func TestPeakFMA(t *testing.T) {
	for _, p := range Sets() {
		onSet(t, p)
		// Even plain Go on an old core does more than 10⁷ operations a second, and no core does 10¹².
		if got := PeakFMA[float32](1e6); got < 1e7 || got > 1e12 {
			t.Errorf("%v: PeakFMA = %g", p, got)
		}
		if got := PeakFMA[float64](1e6); got < 1e7 || got > 1e12 {
			t.Errorf("%v: PeakFMA = %g", p, got)
		}
	}
}
