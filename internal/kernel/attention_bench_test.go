package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"attention/internal/simd"
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

// visibleProducts returns the multiply-adds of one block product over all squares of 64 queries and keys of which the
// rule shows any pair. Tiles have about this size.
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

// BenchmarkAttention reports the rate of the block products over the tiles that are not skipped, 2 forward and 5
// backward, and its ratio to the rate of the multiply-add loop on GOMAXPROCS cores at the same time. "composed" is the
// same attention by products and a softmax, with every weight in memory.
func BenchmarkAttention(b *testing.B) {
	for _, s := range attentionShapes {
		b.Run("float32/"+s.String(), func(b *testing.B) { benchmarkAttention[float32](b, s) })
	}
	s := attentionShapes[0]
	b.Run("float64/"+s.String(), func(b *testing.B) { benchmarkAttention[float64](b, s) })
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
				peak = max(peak, simd.PeakFMA[F](3*time.Millisecond)*float64(runtime.GOMAXPROCS(0)))
			}
			b.ReportMetric(best*1e3, "ms")
			b.ReportMetric(products/best/1e9, "GFLOP/s")
			b.ReportMetric(products/best/peak, "of-peak")
			b.ReportMetric(0, "ns/op")
		})
	}
	report("forward", 2*products, func() { p.call().Forward() })
	report("backward", 5*products, func() { p.call().Backward(p.grad, p.dout) })
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
}

func newComposed[F Float](s attentionShape) *composed[F] {
	n := s.b * s.h * s.t * s.t
	return &composed[F]{s: s, weights: make([]F, n), dw: make([]F, n), aux: make([]F, n)}
}

// scores computes out ← α·x·yᵀ for the heads of x and y (B,T,H·D).
func (c *composed[F]) scores(out []F, alpha F, x, y []F) {
	t, d, ld := c.s.t, c.s.d, c.s.h*c.s.d
	for b := range c.s.b {
		x, y, out := x[b*t*ld:], y[b*t*ld:], out[b*c.s.h*t*t:]
		Product[F]{M: t, N: t, K: d, Alpha: alpha, A: Rows(x, ld).Every(d), B: Rows(y, ld).Every(d).T(),
			C: Rows(out, t).Every(t * t), Batch: c.s.h}.Compute()
	}
}

// weigh computes out ← α·op(weights)·x for the heads of x and out (B,T,H·D).
func (c *composed[F]) weigh(out []F, alpha F, trans bool, weights, x []F) {
	t, d, ld := c.s.t, c.s.d, c.s.h*c.s.d
	for b := range c.s.b {
		weights, x, out := weights[b*c.s.h*t*t:], x[b*t*ld:], out[b*t*ld:]
		Product[F]{M: t, N: d, K: t, Alpha: alpha, A: Rows(weights, t).Every(t * t).Op(trans), B: Rows(x, ld).Every(d),
			C: Rows(out, ld).Every(d), Batch: c.s.h}.Compute()
	}
}

func (c *composed[F]) forward(p *attentionProblem[F]) {
	t := c.s.t
	c.scores(c.aux, F(p.a.Scale), p.in.Q, p.in.K)
	if c.s.causal {
		for row := range c.s.b * c.s.h * t {
			line := c.aux[row*t:][:t]
			for s := row%t + 1; s < t; s++ {
				line[s] = simd.NegInf[F]()
			}
		}
	}
	Softmax(c.weights, c.aux, t)
	c.weigh(p.out, 1, false, c.weights, p.in.V)
}

func (c *composed[F]) backward(p *attentionProblem[F]) {
	c.weigh(p.grad.V, 1, true, c.weights, p.dout)
	c.scores(c.aux, 1, p.dout, p.in.V)
	SoftmaxBackward(c.dw, c.weights, c.aux, c.s.t)
	c.weigh(p.grad.Q, F(p.a.Scale), false, c.dw, p.in.K)
	c.weigh(p.grad.K, F(p.a.Scale), true, c.dw, p.in.Q)
}
