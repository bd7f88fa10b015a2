package kernel

import (
	"math"
	"testing"
)

// TestAttentionBF16Overflow: a key and a value that rounding makes infinite reach only queries that see them.
func TestAttentionBF16Overflow(t *testing.T) {
	const T, width, huge = lowBlock + 8, 8, lowBlock - 1 // query and key with that number
	for _, c := range []struct {
		first  int // query that sees the key
		reason string
	}{
		{huge, "the last of a block sees itself"},
		{huge + 1, "no query of the block sees its partner in a pair"},
	} {
		visible := func(_, t int) (int, int) { return 0, t + 1 + huge - c.first }
		for _, p := range paths() {
			onPath(t, p)
			run := func(large float32) *attentionProblem[float32] {
				p := newAttentionProblem[float32](Attention{B: 1, H: 1, K: 1, T: T, S: T, D: width, DV: width,
					Precision: BFloat16, Visible: visible}, false)
				p.in.V[huge*width], p.in.K[huge*width] = large, large
				p.run()
				return p
			}
			want, got := run(1), run(math.MaxFloat32)
			if !sameBits(want.out[:c.first*width], got.out[:c.first*width]) {
				t.Errorf("%s, %v: a hidden value reached the output", c.reason, p)
			}
			if !sameBits(want.grad.Q[:c.first*width], got.grad.Q[:c.first*width]) {
				t.Errorf("%s, %v: a hidden value reached the gradient of q", c.reason, p)
			}
			if last := got.out[len(got.out)-width:]; isFinite(last[0]) {
				t.Errorf("%s, %v: the value did not reach a query that sees it: %v", c.reason, p, last)
			}
		}
	}
}

// TestAttentionBF16OneKey: the weight of a query's only key is 1, whatever its score. The gradient of the score is a
// rounding error of float32 sums, not of bfloat16.
func TestAttentionBF16OneKey(t *testing.T) {
	p := newAttentionProblem[float32](Attention{B: 3, H: 2, K: 2, T: 1, S: 1, D: 64, DV: 64, Precision: BFloat16}, false)
	p.run()
	for i, v := range p.grad.Q {
		if math.Abs(float64(v)) > 1e-5 {
			t.Fatalf("element %d of the gradient of q: got %g, want 0", i, v)
		}
	}
}
