package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"attention/internal/simd"
)

// BenchmarkAttentionOfOneQuery times a new token's attention to S tokens before it, in H heads of width 64 with K heads
// of keys, which come from memory. It reports medians: microseconds, and of-reading, the time in which one thread reads
// as many bytes divided by that.
func BenchmarkAttentionOfOneQuery(b *testing.B) {
	for _, s := range []struct{ h, k, s int }{
		{12, 12, 64}, {12, 12, 256}, {12, 12, 1024}, {14, 2, 64}, {14, 2, 1024}, {14, 2, 4096},
	} {
		b.Run(fmt.Sprintf("H%dK%dS%d", s.h, s.k, s.s), func(b *testing.B) { benchmarkOneQuery(b, s.h, s.k, s.s) })
	}
}

func benchmarkOneQuery(b *testing.B, h, k, s int) {
	const d, numbers = 64, 1 << 25
	a := &Attention{B: 1, H: h, K: k, T: 1, S: s, D: d, DV: d, Scale: 1 / math.Sqrt(d)}
	a.QueryAt, a.OutputAt = HeadsInRow(h, 1, d), HeadsInRow(h, 1, d)
	a.KeyAt, a.ValueAt = HeadsFirst(k, s, d), HeadsFirst(k, s, d)
	memory, half := make([]float32, numbers), k*s*d
	for i := range memory {
		memory[i] = float32(i%17) / 16
	}
	out, lse := make([]float32, h*d), make([]float32, RowNumbers*h)
	var runs, sweeps []float64
	timed := func(times *[]float64, f func(x []float32)) {
		for x := range slices.Chunk(memory[:numbers/(2*half)*2*half], 2*half) {
			begin := time.Now()
			f(x)
			*times = append(*times, time.Since(begin).Seconds())
		}
	}
	for b.Loop() {
		timed(&runs, func(x []float32) {
			c := AttentionCall[float32]{Attention: *a, Out: out, LSE: lse}
			c.In = QKV[float32]{Q: memory[:h*d], K: x[:half], V: x[half:]}
			c.Forward()
		})
		timed(&sweeps, func(x []float32) { simd.SumSquares(x) })
	}
	slices.Sort(runs)
	slices.Sort(sweeps)
	run := runs[len(runs)/2]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(run*1e6, "µs")
	b.ReportMetric(sweeps[len(sweeps)/2]/run, "of-reading")
}
