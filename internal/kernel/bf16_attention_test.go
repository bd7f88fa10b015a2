package kernel

import (
	"math"
	"testing"
)

// TestAttentionBF16Overflow: a key and a value that become infinite when they are rounded reach no query that does
// not see them.
func TestAttentionBF16Overflow(t *testing.T) {
	const T, width, huge = 40, 8, 30 // query and key of that number
	for _, p := range paths() {
		onPath(t, p)
		run := func(large float32) *attentionProblem[float32] {
			p := newAttentionProblem[float32](Attention{B: 1, H: 1, K: 1, T: T, S: T, D: width, DV: width,
				Precision: BFloat16, Visible: func(_, t int) (int, int) { return 0, t + 1 }}, false)
			p.in.V[huge*width], p.in.K[huge*width] = large, large
			p.run()
			return p
		}
		want, got := run(1), run(math.MaxFloat32)
		if !sameBits(want.out[:huge*width], got.out[:huge*width]) {
			t.Errorf("%v: a hidden value reached the output", p)
		}
		if !sameBits(want.grad.Q[:huge*width], got.grad.Q[:huge*width]) {
			t.Errorf("%v: a hidden value reached the gradient of q", p)
		}
		if last := got.out[len(got.out)-width:]; isFinite(last[0]) {
			t.Errorf("%v: the value did not reach a query that sees it: %v", p, last)
		}
	}
}
