package kernel

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// BenchmarkAttentionStatistics compares a forward with and without statistics, and the second pass.
func BenchmarkAttentionStatistics(b *testing.B) {
	for _, size := range []Attention{
		{B: 1, H: 12, K: 12, T: 1024, S: 1024, D: 64, DV: 64},
		{B: 8, H: 4, K: 4, T: 128, S: 128, D: 32, DV: 32},
		{B: 1, H: 2, K: 2, T: 4096, S: 4096, D: 64, DV: 64},
	} {
		for _, causal := range []bool{true, false} {
			a := size
			if causal {
				a.Visible = func(_, t int) (int, int) { return 0, t + 1 }
			}
			name := fmt.Sprintf("H%d,T%d,D%d,causal=%v", a.H, a.T, a.D, causal)
			p := newAttentionProblem[float32](a, false)
			stats := p.watch(0)
			rows := a.B * a.H * a.S
			cells := make([]float32, rows*a.S/64)
			b.Run(name, func(b *testing.B) {
				alternately(b, "plain", []timed{
					{"plain", func() { p.call().Forward() }},
					{"watched", p.watchedCall(stats).Forward},
					{"largest", func() {
						p.call().Largest(cells, Cells{CellsOf(a.T, 8), CellsOf(a.S, 8)})
					}},
				})
			})
		}
	}
}

// timed is a function to be timed.
type timed struct {
	name string
	do   func()
}

// alternately times functions in turns and reports the medians as multiples of the first one's.
func alternately(b *testing.B, base string, each []timed) {
	times := make([][]float64, len(each))
	for b.Loop() {
		for i, x := range each {
			begin := time.Now()
			x.do()
			times[i] = append(times[i], time.Since(begin).Seconds())
		}
	}
	median := func(i int) float64 {
		slices.Sort(times[i])
		return times[i][len(times[i])/2]
	}
	for i := range each[1:] {
		b.ReportMetric(median(i+1)/median(0), each[i+1].name+"/"+base)
	}
}
