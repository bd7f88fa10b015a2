package kernel

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"attention/internal/simd"
)

// BenchmarkBF16 prints how fast products of bfloat16 are, compared with those of float32. Both alternate, and the
// medians count.
func BenchmarkBF16(b *testing.B) {
	if !simd.BF16() {
		b.Skip("this processor has no instructions for products of bfloat16")
	}
	for b.Loop() {
		printBF16()
		printAttentionBF16()
	}
}

func printBF16() {
	var peaks [2][]float64
	for range 9 {
		peaks[0] = append(peaks[0], simd.PeakFMA[float32](20*time.Millisecond))
		peaks[1] = append(peaks[1], simd.PeakBF16(20*time.Millisecond))
	}
	full, half := median(peaks[0]), median(peaks[1])
	fmt.Printf("peak: float32 %.1f, bf16 %.1f GFLOP/s, %.2f×\n", full/1e9, half/1e9, half/full)
	for _, s := range []struct{ m, n, k int }{{1024, 1024, 1024}, {2048, 768, 768}, {2048, 3072, 768}, {64, 1024, 1024},
		{1, 3072, 768}} {
		for _, trans := range []bool{false, true} {
			a, b, c := make([]float32, s.m*s.k), make([]float32, s.k*s.n), make([]float32, s.m*s.n)
			for i := range a {
				a[i] = float32(i%7) - 3
			}
			for i := range b {
				b[i] = float32(i%5) - 2
			}
			ldb := s.n
			if trans {
				ldb = s.k
			}
			var took [2][]float64
			for range 9 {
				g := Product[float32]{M: s.m, N: s.n, K: s.k, Alpha: 1, A: Rows(a, s.k), B: Rows(b, ldb).Op(trans), C: Rows(c, s.n)}
				start := time.Now()
				g.Compute()
				took[0] = append(took[0], time.Since(start).Seconds())
				start = time.Now()
				g.Precision = BFloat16
				g.Compute()
				took[1] = append(took[1], time.Since(start).Seconds())
			}
			full, half := median(took[0]), median(took[1])
			flops := 2 * float64(s.m) * float64(s.n) * float64(s.k)
			fmt.Printf("%4d×%4d×%4d transposed %-5v: float32 %.1f, bf16 %.1f GFLOP/s, %.2f×\n", s.m, s.n, s.k, trans,
				flops/full/1e9, flops/half/1e9, full/half)
		}
	}
}

// printAttentionBF16 prints how long a causal attention and its gradients take.
func printAttentionBF16() {
	var took [2][]float64
	for range 9 {
		for i, precision := range []Precision{Full, BFloat16} {
			p := newAttentionProblem[float32](Attention{B: 2, H: 12, K: 12, T: 1024, S: 1024, D: 64, DV: 64,
				Precision: precision, Visible: func(_, t int) (int, int) { return 0, t + 1 }}, false)
			start := time.Now()
			p.run()
			took[i] = append(took[i], time.Since(start).Seconds())
		}
	}
	full, half := median(took[0]), median(took[1])
	fmt.Printf("attention, B 2, T 1024, 12 heads of 64: float32 %.1f ms, bf16 %.1f ms, %.2f×\n",
		full*1e3, half*1e3, full/half)
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
