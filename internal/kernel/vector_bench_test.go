package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"attention/internal/simd"
	"attention/internal/testenv"
)

// BenchmarkVector reports the time per element of every kernel, path and type on rows of a language model: the
// best of several turns, the paths one after the other in each turn, on one core.
func BenchmarkVector(b *testing.B) {
	b.Run("float32", benchmarkVector[float32])
	b.Run("float64", benchmarkVector[float64])
}

func benchmarkVector[F Float](b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, shape := range [][2]int{{64, 65}, {64, 768}} {
		for _, c := range vectorCases[F](shape[0], shape[1]) {
			b.Run(fmt.Sprintf("%s/%dx%d", c.name, shape[0], shape[1]), func(b *testing.B) {
				a := c.arguments(r, func(n int) []F { return make([]F, n) })
				testenv.SetProcs(b, 1)
				best := map[simd.Set]float64{}
				for range 10 {
					for _, p := range paths() {
						onPath(b, p)
						elapsed := bestTime(func() { c.run(a) }) / float64(shape[0]*shape[1])
						if before, ok := best[p]; !ok || elapsed < before {
							best[p] = elapsed
						}
					}
				}
				b.ReportMetric(0, "ns/op")
				for p, elapsed := range best {
					b.ReportMetric(elapsed*1e9, p.String()+"-ns/elem")
				}
			})
		}
	}
}

// bestTime returns the time of one run, averaged over the runs in a fifth of a millisecond.
func bestTime(f func()) (seconds float64) {
	for times := 1; ; times *= 2 {
		start := time.Now()
		for range times {
			f()
		}
		if took := time.Since(start); took > 200*time.Microsecond || times > 1<<20 {
			return took.Seconds() / float64(times)
		}
	}
}
