package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// newAttentionProblem makes an attention in contiguous (B,T,H·D) slices; if biased, with both biases and
// sinks for each head, which the batch shares.
func newAttentionProblem[F Float](a Attention, biased bool) *attentionProblem[F] {
	a.Scale = 1 / math.Sqrt(float64(a.D))
	a.QueryAt, a.KeyAt = HeadsInRow(a.H, a.T, a.D), HeadsInRow(a.K, a.S, a.D)
	a.ValueAt, a.OutputAt = HeadsInRow(a.K, a.S, a.DV), HeadsInRow(a.H, a.T, a.DV)
	p := &attentionProblem[F]{
		a: &a, rand: rand.New(rand.NewPCG(5, 6)),
		sizeQ: a.B * a.T * a.H * a.D, sizeK: a.B * a.S * a.K * a.D, sizeV: a.B * a.S * a.K * a.DV, sizeOut: a.B * a.T * a.H * a.DV,
	}
	if biased {
		s := a.S - a.Unbiased
		a.BiasAt = BiasLayout{Head: a.T * s, Query: s, Key: 1}
		a.RelativeAt = RelativeLayout{Head: a.T + s - 1, Zero: s - 1}
		n := a.H * (a.T + s - 1)
		p.in.Relative, p.grad.Relative = normals[F](p.rand, n), make([]F, n)
		p.in.Sinks, p.grad.Sinks = normals[F](p.rand, a.H), make([]F, a.H)
		p.sizeB = a.H * a.T * s
		p.in.Bias, p.grad.Bias = normals[F](p.rand, p.sizeB), make([]F, p.sizeB)
	}
	p.fill()
	return p
}

// TestAttentionCentralDifferences does not rely on any formula of the gradient.
func TestAttentionCentralDifferences(t *testing.T) {
	p := newAttentionProblem[float64](Attention{
		B: 2, H: 6, K: 3, T: 5, S: 7, D: 3, DV: 2, Softcap: 2, Unbiased: 1,
		Visible: func(b, t int) (int, int) { return t - 2, t + 1 + b },
		Shown: func(b, h, t, s0 int, shown []bool) bool {
			for j := range shown {
				shown[j] = (b+h+t+s0+j)%4 > 0
			}
			return h > 0
		},
		Dropout: WeightDropout{P: 0.25, Key: 11, Site: 2},
	}, true)
	loss := func() float64 {
		out, lse := make([]float64, p.sizeOut), make([]float64, len(p.lse))
		AttentionForward(p.a, out, lse, p.in)
		sum := 0.
		for i, v := range out {
			sum += v * p.dout[i]
		}
		return sum
	}
	p.run()
	const step = 1e-5
	for _, x := range []struct {
		name     string
		in, grad []float64
	}{{"q", p.in.Q, p.grad.Q}, {"k", p.in.K, p.grad.K}, {"v", p.in.V, p.grad.V}, {"bias", p.in.Bias, p.grad.Bias},
		{"relative", p.in.Relative, p.grad.Relative}, {"sinks", p.in.Sinks, p.grad.Sinks}} {
		for i := range x.in {
			old := x.in[i]
			x.in[i] = old + step
			above := loss()
			x.in[i] = old - step
			below := loss()
			x.in[i] = old
			// The difference errs by step² and by the rounding of the loss over step.
			assert.InDelta(t, (above-below)/(2*step), x.grad[i], 1e-8, "%s %d", x.name, i)
		}
	}
}

// TestAttentionGradientsAlone asks for one gradient at a time.
func TestAttentionGradientsAlone(t *testing.T) {
	p := newAttentionProblem[float32](Attention{B: 2, H: 4, K: 2, T: 150, S: 130, D: 17, DV: 9, Visible: func(_, t int) (int, int) { return 0, t + 1 }}, true)
	p.run()
	all := p.grad
	for i, name := range []string{"q", "k", "v", "bias", "relative", "sinks"} {
		want := [][]float32{all.Q, all.K, all.V, all.Bias, all.Relative, all.Sinks}[i]
		got := make([]float32, len(want))
		p.grad = QKV[float32]{}
		*[]*[]float32{&p.grad.Q, &p.grad.K, &p.grad.V, &p.grad.Bias, &p.grad.Relative, &p.grad.Sinks}[i] = got
		AttentionBackward(p.a, p.grad, p.dout, p.out, p.lse, p.in)
		assert.True(t, sameBits(want, got), name)
	}
	AttentionBackward(p.a, QKV[float32]{}, p.dout, p.out, p.lse, p.in)
}

// TestAttentionBitsDoNotDependOnGoroutines takes shapes with many blocks, heads that share keys, and a bias
// that everything shares.
func TestAttentionBitsDoNotDependOnGoroutines(t *testing.T) {
	for _, p := range paths() {
		t.Run(p.String(), func(t *testing.T) {
			onPath(t, p)
			for _, at := range []BiasLayout{{Query: 420, Key: 1}, {Head: 420 * 420, Query: 420, Key: 1}, {Query: 1}, {}} {
				p := newAttentionProblem[float32](Attention{B: 2, H: 4, K: 2, T: 390, S: 420, D: 12, DV: 10, Visible: func(b, t int) (int, int) { return t - 200, t + 50*b }}, false)
				p.a.BiasAt = at
				p.in.Bias, p.grad.Bias = normals[float32](p.rand, 4*420*420), make([]float32, 4*420*420)
				if at == (BiasLayout{}) { // instead a bias by distance that all heads share
					p.in.Bias, p.grad.Bias = nil, nil
					p.a.RelativeAt.Zero = 419
					p.in.Relative, p.grad.Relative = normals[float32](p.rand, 390+419), make([]float32, 390+419)
				}
				var want [][]float32
				for _, procs := range []int{1, 2, 5} {
					setProcs(t, procs)
					clear(p.grad.Bias)
					p.run()
					got := [][]float32{p.out, p.lse, p.grad.Q, p.grad.K, p.grad.V, p.grad.Bias, p.grad.Relative}
					if want == nil {
						for _, x := range got {
							want = append(want, append([]float32(nil), x...))
						}
					}
					for i, x := range got {
						assert.True(t, sameBits(want[i], x), "result %d with %d goroutines", i, procs)
					}
				}
			}
		})
	}
}
