//go:build !noasm

package kernel

import (
	"testing"

	"attention/internal/simd"
)

// withoutPairs disables the bfloat16 instructions for the rest of the test, and nothing else.
func withoutPairs(t *testing.T) {
	t.Cleanup(simd.WithoutPairs())
}

// TestAttentionBF16Emulated: in attention, too, plain Go's products of pairs give the bits of the instructions.
func TestAttentionBF16Emulated(t *testing.T) {
	if !simd.BF16() {
		t.Skip("this processor has no instructions for products of bfloat16")
	}
	causal := func(_, t int) (int, int) { return 0, t + 1 }
	for _, c := range []struct {
		a      Attention
		biased bool
		reason string
	}{
		{Attention{B: 2, H: 4, K: 2, T: 70, S: 70, D: 24, DV: 16, Visible: causal}, false, "causal"},
		{Attention{B: 1, H: 2, K: 2, T: 150, S: 333, D: 7, DV: 5}, true, "odd widths, three blocks of keys"},
		{Attention{B: 1, H: 1, K: 1, T: 1, S: 1, D: 1, DV: 1}, false, "one of each"},
		{Attention{B: 1, H: 2, K: 1, T: 65, S: 65, D: 16, DV: 16, Softcap: 3, Visible: causal,
			Dropout: WeightDropout{P: 0.3, Key: 5}}, true, "softcap, dropout"},
		{Attention{B: 1, H: 2, K: 2, T: 600, S: 600, D: 16, DV: 32,
			Visible: func(_, t int) (int, int) { return t - 40, t + 1 }}, false, "rows that are copied"},
	} {
		p := newAttentionProblem[float32](c.a, c.biased)
		p.a.Precision = BFloat16
		p.run()
		results := func() [][]float32 {
			return [][]float32{p.out, p.lse, p.grad.Q, p.grad.K, p.grad.V, p.grad.Bias, p.grad.Relative, p.grad.Sinks}
		}
		var want [][]float32
		for _, x := range results() {
			want = append(want, append([]float32(nil), x...))
		}
		t.Run(c.reason, func(t *testing.T) {
			withoutPairs(t)
			p.run()
			for i, x := range results() {
				for j, v := range x {
					if !equalBits(v, want[i][j]) {
						t.Fatalf("result %d: element %d: got %v, want %v", i, j, v, want[i][j])
					}
				}
			}
		})
	}
}
