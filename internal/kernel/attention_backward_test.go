package kernel

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAttentionCentralDifferences compares gradients with difference quotients and uses no formula of the gradient.
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
		c := p.call()
		c.Out, c.LSE = make([]float64, p.sizeOut), make([]float64, len(p.lse))
		c.Forward()
		sum := 0.
		for i, v := range c.Out {
			sum += v * p.dout[i]
		}
		return sum
	}
	p.run()
	const step = 1e-5
	for _, x := range []struct {
		name     string
		in, grad []float64
	}{
		{name: "q", in: p.in.Q, grad: p.grad.Q},
		{name: "k", in: p.in.K, grad: p.grad.K},
		{name: "v", in: p.in.V, grad: p.grad.V},
		{name: "bias", in: p.in.Bias, grad: p.grad.Bias},
		{name: "relative", in: p.in.Relative, grad: p.grad.Relative},
		{name: "sinks", in: p.in.Sinks, grad: p.grad.Sinks},
		{name: "forgetting of queries", in: p.in.Forget.Query, grad: p.grad.Forget.Query},
	} {
		for i := range x.in {
			old := x.in[i]
			x.in[i] = old + step
			above := loss()
			x.in[i] = old - step
			below := loss()
			x.in[i] = old
			// The difference quotient has an error of step² plus the rounding error of the loss divided by step.
			assert.InDelta(t, (above-below)/(2*step), x.grad[i], 1e-8, "%s %d", x.name, i)
		}
	}
}

// TestAttentionGradientsAlone requests one gradient at a time.
func TestAttentionGradientsAlone(t *testing.T) {
	p := newAttentionProblem[float32](Attention{
		B: 2, H: 4, K: 2, T: 150, S: 130, D: 17, DV: 9, Visible: func(_, t int) (int, int) { return 0, t + 1 },
	}, true)
	p.run()
	all := p.grad
	for i, name := range []string{"q", "k", "v", "bias", "relative", "sinks"} {
		want := [][]float32{all.Q, all.K, all.V, all.Bias, all.Relative, all.Sinks}[i]
		got := make([]float32, len(want))
		p.grad = QKV[float32]{}
		*[]*[]float32{&p.grad.Q, &p.grad.K, &p.grad.V, &p.grad.Bias, &p.grad.Relative, &p.grad.Sinks}[i] = got
		p.call().Backward(p.grad, p.dout)
		assert.True(t, sameBits(want, got), name)
	}
	p.call().Backward(QKV[float32]{}, p.dout)
}

// TestAttentionEqualHugeScores: the keys, and a sink, share the weight equally, and their scores are all the same huge
// number. Rounding removes log Σ exp(score − max) from the lse, in part or completely, but the gradients are still
// those of equal weights.
func TestAttentionEqualHugeScores(t *testing.T) {
	for _, path := range paths() {
		t.Run(path.String(), func(t *testing.T) {
			onPath(t, path)
			for _, size := range []float64{1, 300, 1e4, 1e8, 1e15, 1e30} {
				for _, sign := range []float64{1, -1} {
					testEqualScores[float32](t, sign*size, 4e-6)
					testEqualScores[float64](t, sign*size, 1e-14)
				}
			}
		})
	}
}

func testEqualScores[F Float](t *testing.T, size float64, tol float64) {
	const T, S = 5, 150
	p := newAttentionProblem[F](Attention{B: 1, H: 1, K: 1, T: T, S: S, D: 1, DV: 2}, false)
	p.a.Scale = 1
	p.in.Sinks, p.grad.Sinks = []F{F(size)}, make([]F, 1)
	for i := range p.in.Q {
		p.in.Q[i] = 1
	}
	for i := range p.in.K {
		p.in.K[i] = F(size)
	}
	p.run()
	var dv [2]float64
	var dsink float64
	for i, d := range p.dout {
		dv[i%2] += float64(d) / (S + 1)
		dsink -= float64(d) * float64(p.out[i]) / (S + 1)
	}
	for i, v := range p.grad.V {
		assert.InDelta(t, dv[i%2], float64(v), tol, "%T, scores of %v: dv %d", v, size, i)
	}
	assert.InDelta(t, dsink, float64(p.grad.Sinks[0]), tol, "scores of %v: dsink", size)
}
