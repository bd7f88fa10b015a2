package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// attentionShape is a self-attention of the (B,T,H·D) kind.
type attentionShape struct {
	b, t, h, d int
	causal     bool
}

func (s attentionShape) String() string {
	rule := "full"
	if s.causal {
		rule = "causal"
	}
	return fmt.Sprintf("B%dT%dH%dD%d/%s", s.b, s.t, s.h, s.d, rule)
}

var attentionShapes = []attentionShape{
	{2, 1024, 12, 64, true}, {2, 1024, 12, 64, false}, {8, 64, 4, 32, true}, {1, 8192, 1, 64, true},
}

func newAttentionBench[F Float](s attentionShape) *attentionProblem[F] {
	a := &Attention{B: s.b, H: s.h, K: s.h, T: s.t, S: s.t, D: s.d, DV: s.d, Scale: 1 / math.Sqrt(float64(s.d))}
	at := HeadsInRow(s.h, s.t, s.d)
	a.QueryAt, a.KeyAt, a.ValueAt, a.OutputAt = at, at, at, at
	if s.causal {
		a.Visible = func(_, t int) (int, int) { return 0, t + 1 }
	}
	n := s.b * s.t * s.h * s.d
	p := &attentionProblem[F]{a: a, rand: rand.New(rand.NewPCG(1, 2)), sizeQ: n, sizeK: n, sizeV: n, sizeOut: n}
	p.fill()
	return p
}

// visibleProducts is the multiply-adds of one block product over all squares of 64 queries and keys that the
// rule shows any of. Tiles are cut to about that.
func visibleProducts(a *Attention) float64 {
	const side = 64
	n := 0.
	for b := range a.B {
		for t0 := 0; t0 < a.T; t0 += side {
			rows := min(side, a.T-t0)
			for s0 := 0; s0 < a.S; s0 += side {
				keys := min(side, a.S-s0)
				for t := t0; t < t0+rows; t++ {
					if lo, hi := a.keys(b, t); lo < s0+keys && hi > s0 {
						n += float64(rows * keys)
						break
					}
				}
			}
		}
	}
	return n * float64(a.H*a.D)
}

// BenchmarkAttention reports the rate of the block products over the tiles that are not skipped, 2 forward
// and 5 backward, and its ratio to what GOMAXPROCS times the multiply-add loop do at that moment. "composed"
// is the same attention by way of Gemm and a softmax, with every weight in memory.
func BenchmarkAttention(b *testing.B) {
	for _, s := range attentionShapes {
		b.Run("float32/"+s.String(), func(b *testing.B) { benchmarkAttention[float32](b, s) })
	}
	b.Run("float64/"+attentionShapes[0].String(), func(b *testing.B) { benchmarkAttention[float64](b, attentionShapes[0]) })
}

func benchmarkAttention[F Float](b *testing.B, s attentionShape) {
	p := newAttentionBench[F](s)
	products := 2 * visibleProducts(p.a)
	p.run()
	report := func(name string, products float64, run func()) {
		b.Run(name, func(b *testing.B) {
			best, peak := math.Inf(1), 0.
			for range 7 {
				start := time.Now()
				run()
				best = min(best, time.Since(start).Seconds())
				peak = max(peak, PeakFMA[F](3*time.Millisecond)*float64(runtime.GOMAXPROCS(0)))
			}
			b.ReportMetric(best*1e3, "ms")
			b.ReportMetric(products/best/1e9, "GFLOP/s")
			b.ReportMetric(products/best/peak, "of-peak")
			b.ReportMetric(0, "ns/op")
		})
	}
	report("forward", 2*products, func() { AttentionForward(p.a, p.out, p.lse, p.in) })
	report("backward", 5*products, func() { AttentionBackward(p.a, p.grad, p.dout, p.out, p.lse, p.in) })
	if s.t > 2048 {
		return
	}
	c := newComposed[F](s)
	report("composed-forward", 2*products, func() { c.forward(p) })
	report("composed-backward", 5*products, func() { c.backward(p) })
}

// composed is a causal or full attention of separate steps.
type composed[F Float] struct {
	s                attentionShape
	weights, dw, aux []F // (B,H,T,T)
	batch            Batch
	at, square       Strides
}

func newComposed[F Float](s attentionShape) *composed[F] {
	c := &composed[F]{s: s, batch: Batch{1, s.b, s.h}, at: Strides{0, s.t * s.h * s.d, s.d}, square: Strides{0, s.h * s.t * s.t, s.t * s.t}}
	n := s.b * s.h * s.t * s.t
	c.weights, c.dw, c.aux = make([]F, n), make([]F, n), make([]F, n)
	return c
}

func (c *composed[F]) forward(p *attentionProblem[F]) {
	t, d, ld := c.s.t, c.s.d, c.s.h*c.s.d
	GemmBatch(c.batch, NoTrans, Trans, t, t, d, F(p.a.Scale), p.in.Q, ld, c.at, p.in.K, ld, c.at, 0, c.aux, t, c.square)
	if c.s.causal {
		for row := range c.s.b * c.s.h * t {
			line := c.aux[row*t:][:t]
			for s := row%t + 1; s < t; s++ {
				line[s] = lowest[F]()
			}
		}
	}
	Softmax(c.weights, c.aux, t)
	GemmBatch(c.batch, NoTrans, NoTrans, t, d, t, 1, c.weights, t, c.square, p.in.V, ld, c.at, 0, p.out, ld, c.at)
}

func (c *composed[F]) backward(p *attentionProblem[F]) {
	t, d, ld := c.s.t, c.s.d, c.s.h*c.s.d
	GemmBatch(c.batch, Trans, NoTrans, t, d, t, 1, c.weights, t, c.square, p.dout, ld, c.at, 0, p.grad.V, ld, c.at)
	GemmBatch(c.batch, NoTrans, Trans, t, t, d, 1, p.dout, ld, c.at, p.in.V, ld, c.at, 0, c.aux, t, c.square)
	SoftmaxBackward(c.dw, c.weights, c.aux, t)
	GemmBatch(c.batch, NoTrans, NoTrans, t, d, t, F(p.a.Scale), c.dw, t, c.square, p.in.K, ld, c.at, 0, p.grad.Q, ld, c.at)
	GemmBatch(c.batch, Trans, NoTrans, t, d, t, F(p.a.Scale), c.dw, t, c.square, p.in.Q, ld, c.at, 0, p.grad.K, ld, c.at)
}
