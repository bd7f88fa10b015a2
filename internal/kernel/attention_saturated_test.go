package kernel

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAttentionOneHot gives each query one key with all of the weight. All scores then have gradients of exactly 0,
// without any rounding error, for all widths, layouts, masks and dropout.
func TestAttentionOneHot(t *testing.T) {
	for _, path := range paths() {
		if slowGo(path) {
			continue
		}
		t.Run(path.String(), func(t *testing.T) {
			onPath(t, path)
			t.Run("float32", testOneHot[float32])
			t.Run("float64", testOneHot[float64])
		})
	}
}

func testOneHot[F Float](t *testing.T) {
	shown := func(b, h, t, s0 int, shown []bool) bool {
		for j := range shown {
			shown[j] = s0+j == t || (b+h+t+s0+j)%3 > 0
		}
		return true
	}
	drop := WeightDropout{P: 0.25, Key: 11, Site: 2}
	causal := func(_, t int) (int, int) { return 0, t + 1 }
	window := func(_, t int) (int, int) { return t - 40, t + 3 }
	for _, a := range []Attention{
		{B: 2, H: 2, K: 2, T: 70, S: 200, D: 64, DV: 64},
		{B: 1, H: 6, K: 3, T: 70, S: 150, D: 17, DV: 31, Visible: causal, Dropout: drop},
		{B: 1, H: 2, K: 1, T: 67, S: 133, D: 32, DV: 5, Visible: window, Shown: shown, Unbiased: 2},
		{B: 1, H: 4, K: 2, T: 3, S: 129, D: 8, DV: 16, Shown: shown, Dropout: drop},
		{B: 1, H: 2, K: 2, T: 1, S: 40, D: 9, DV: 33},
		{B: 1, H: 1, K: 1, T: 40, S: 1, D: 9, DV: 33},
		{B: 1, H: 1, K: 1, T: 130, S: 640, D: 16, DV: 16, Visible: causal},
	} {
		p := newAttentionProblem[F](a, true)
		p.pointQueries()
		p.run()
		for name, grad := range map[string][]F{"q": p.grad.Q, "k": p.grad.K, "bias": p.grad.Bias,
			"relative": p.grad.Relative, "sinks": p.grad.Sinks} {
			for i, g := range grad {
				require.Zero(t, g, "%T %d %d %d: %s %d", g, a.T, a.S, a.DV, name, i)
			}
		}
	}
}

// pointQueries gives key s the angle of s points on a circle, and query t that of key t modulo S: its score is the
// largest, and by the scale it is far above all others.
func (p *attentionProblem[F]) pointQueries() {
	a := p.a
	at := func(x []F, s int) {
		clear(x)
		sin, cos := math.Sincos(2 * math.Pi * float64(s) / float64(a.S))
		x[0], x[1] = F(cos), F(sin)
	}
	for b := range a.B {
		for h := range a.H {
			for t := range a.T {
				at(p.in.Q[a.QueryAt.at(b, h, t):][:a.D], t%a.S)
			}
			for s := range a.S {
				at(p.in.K[a.KeyAt.at(b, h/(a.H/a.K), s):][:a.D], s)
			}
		}
	}
	a.Scale = 1e8
}

// TestSaturatedRowsOnAnyNumberOfProcessors mixes saturated rows with others.
func TestSaturatedRowsOnAnyNumberOfProcessors(t *testing.T) {
	p := newAttentionProblem[float32](Attention{
		B: 2, H: 4, K: 2, T: 300, S: 300, D: 16, DV: 16, Visible: func(_, t int) (int, int) { return 0, t + 1 },
	}, true)
	p.a.Scale = 60
	var first []QKV[float32]
	for _, n := range []int{1, 2, 5} {
		before := runtime.GOMAXPROCS(n)
		p.run()
		runtime.GOMAXPROCS(before)
		g := p.grad
		first = append(first, QKV[float32]{Q: slices.Clone(g.Q), K: slices.Clone(g.K), V: slices.Clone(g.V),
			Bias: slices.Clone(g.Bias), Relative: slices.Clone(g.Relative), Sinks: slices.Clone(g.Sinks)})
		last := first[len(first)-1]
		require.True(t, sameBits(first[0].Q, last.Q) && sameBits(first[0].K, last.K) && sameBits(first[0].V, last.V))
		require.True(t, sameBits(first[0].Bias, last.Bias) && sameBits(first[0].Relative, last.Relative))
		require.True(t, sameBits(first[0].Sinks, last.Sinks))
	}
}

// TestSaturatedRowsOfNaN: the gradient of values depends on weights alone, so a NaN among the values changes none of
// its bits, not even in saturated rows.
func TestSaturatedRowsOfNaN(t *testing.T) {
	p := newAttentionProblem[float64](Attention{B: 1, H: 2, K: 1, T: 100, S: 100, D: 7, DV: 2}, true)
	p.a.Scale = 60
	p.run()
	want := slices.Clone(p.grad.V)
	p.in.V[0] = math.NaN() // which all rows see
	p.run()
	require.True(t, math.IsNaN(float64(p.grad.Q[0])))
	require.True(t, sameBits(want, p.grad.V))
}
