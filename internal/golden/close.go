package golden

import (
	"math"
	"testing"
)

// Close fails the test with t.Errorf unless got has the length of want and every element is near:
//
//	|got-want| <= atol + rtol·|want|
//
// computed in float64. NaN is near only to NaN, an infinity only to itself. The failure states the number of wrong
// elements and the one that exceeds its bound the most, the first of equal ones. The tolerances must be finite and not
// negative.
func Close[F float32 | float64](t testing.TB, what string, want, got []F, atol, rtol float64) {
	t.Helper()
	// A NaN tolerance fails both comparisons, so it is refused here too.
	if !(atol >= 0 && rtol >= 0) || math.IsInf(atol+rtol, 1) {
		t.Fatalf("%s: tolerances: got atol %g, rtol %g, want finite numbers >= 0", what, atol, rtol)
	}
	if len(want) != len(got) {
		t.Errorf("%s: got %d elements, want %d", what, len(got), len(want))
		return
	}
	bad, worst, most := 0, 0, -1.0
	for i := range want {
		over := excess(float64(want[i]), float64(got[i]), atol, rtol)
		if over == 0 {
			continue
		}
		bad++
		if over > most {
			worst, most = i, over
		}
	}
	if bad > 0 {
		w, g := float64(want[worst]), float64(got[worst])
		t.Errorf("%s: %d of %d elements differ (atol %g, rtol %g); worst at [%d]: got %v, want %v, error %.3g, allowed %.3g",
			what, bad, len(want), atol, rtol, worst, got[worst], want[worst], math.Abs(g-w), atol+rtol*math.Abs(w))
	}
}

// excess returns how far got exceeds the bound around want: 0 if it is near, +Inf if only one of them is finite, or if
// both are not finite and differ.
func excess(want, got, atol, rtol float64) float64 {
	switch {
	case want == got, math.IsNaN(want) && math.IsNaN(got):
		return 0
	case special(want) || special(got):
		return math.Inf(1)
	}
	err, allowed := math.Abs(got-want), atol+rtol*math.Abs(want)
	if err <= allowed {
		return 0
	}
	return err - allowed
}

// special reports whether v is NaN or infinite.
func special(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
