package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"attention/internal/simd"
)

// benchShapes go from one product of two numbers to the layers of a language model; batch is for heads.
var benchShapes = []struct{ batch, m, n, k int }{
	{1, 1, 1, 1}, {1, 4, 4, 4}, {1, 8, 8, 8}, {1, 16, 16, 16}, {1, 32, 32, 16}, {1, 32, 32, 32},
	{1, 17, 31, 29}, {1, 64, 64, 64}, {1, 128, 128, 128},
	{1, 1, 768, 768}, {1, 768, 1, 768}, {1, 4, 768, 768}, {1, 256, 256, 256},
	{1, 1024, 64, 64}, {1, 1024, 1024, 64}, {1, 1024, 64, 1024},
	{12, 1024, 1024, 64}, {12, 1024, 64, 1024}, {48, 64, 64, 64},
	{1, 512, 512, 512}, {1, 1000, 1000, 1000}, {1, 1024, 1024, 1024},
	{1, 2048, 768, 768}, {1, 2048, 3072, 768}, {1, 768, 768, 2048},
}

// BenchmarkGemm reports the rate of every shape and transposition, and its ratio to the rate of the multiply-add loop
// on GOMAXPROCS cores at the same time: other work on the machine then affects both alike.
func BenchmarkGemm(b *testing.B) {
	b.Run("float32", benchmarkGemm[float32])
	b.Run("float64", benchmarkGemm[float64])
}

func benchmarkGemm[F Float](b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range benchShapes {
		for i, name := range []string{"NN", "NT", "TN", "TT"} {
			transA, transB := bothWays[i/2], bothWays[i%2]
			b.Run(fmt.Sprintf("%s/%dx%dx%dx%d", name, s.batch, s.m, s.n, s.k), func(b *testing.B) {
				x := newProblem[F](r, s.batch, transA, transB, s.m, s.n, s.k, 1, 0, 0)
				x.a.step, x.b.step = x.a.rows*x.a.ld, x.b.rows*x.b.ld
				x.a.data, x.b.data = normals[F](r, s.batch*x.a.step), normals[F](r, s.batch*x.b.step)
				rate, peak := bestRates[F](x, 2*float64(s.batch)*float64(s.m)*float64(s.n)*float64(s.k))
				b.ReportMetric(rate/1e9, "GFLOP/s")
				b.ReportMetric(rate/peak, "of-peak")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

//go:norace
func normals[F Float](r *rand.Rand, n int) []F {
	x := make([]F, n)
	for i := range x {
		x[i] = F(r.NormFloat64())
	}
	return x
}

// bestRates measures a problem and the peak of one core in turns, and returns the best of each.
func bestRates[F Float](x *problem[F], operations float64) (rate, peak float64) {
	x.run()
	times := 1
	for range 12 {
		for {
			start := time.Now()
			for range times {
				x.run()
			}
			took := time.Since(start)
			if took > time.Millisecond || times > 1<<20 {
				rate = max(rate, operations*float64(times)/took.Seconds())
				break
			}
			times *= 2
		}
		peak = max(peak, simd.PeakFMA[F](3*time.Millisecond))
	}
	return rate, peak
}

// BenchmarkGemmPaths reports the rates of one large and one small product on every path of this processor.
func BenchmarkGemmPaths(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, p := range paths() {
		for _, n := range []int{32, 512} {
			b.Run(fmt.Sprintf("%v/%d", p, n), func(b *testing.B) {
				onPath(b, p)
				x := newProblem[float32](r, 1, false, true, n, n, n, 1, 0, 0)
				rate, peak := bestRates[float32](x, 2*float64(n)*float64(n)*float64(n))
				b.ReportMetric(rate/1e9, "GFLOP/s")
				b.ReportMetric(rate/peak, "of-peak")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
