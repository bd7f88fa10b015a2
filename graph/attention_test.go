package graph_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// attend computes context vectors and weights in float64.
func attend(t testing.TB, c graph.AttentionConfig, q, k, v array) (out, weights array) {
	t.Helper()
	var w *G.Node
	e := express(t, func(in G.Nodes) (out *G.Node, err error) {
		out, w, err = graph.Attention(in[0], in[1], in[2], c)
		return out, err
	}, inputs(q, k, v), tensor.Float64)
	e.grads = G.Nodes{w} // any other node that is wanted
	r := e.onOurs(t)
	return r.out, r.grads[0]
}

// Any sizes, any number of leading axes and any mask, with T=1, S=1, D=1 and one head among them.
func TestAttentionEqualsALoopOverQueries(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(1, 5)
		lead := rapid.SliceOfN(rapid.IntRange(1, 3), 0, 3).Draw(rt, "leading axes")
		T, S, D, Dv := size.Draw(rt, "T"), size.Draw(rt, "S"), size.Draw(rt, "D"), size.Draw(rt, "Dv")
		c, sees := graph.AttentionConfig{}, all
		if rapid.Bool().Draw(rt, "mask") {
			c.Mask, sees, S = mask.Causal{}, causal, T
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		array := func(rows, cols int) array { return normal(r, append(append([]int{}, lead...), rows, cols)...) }
		q, k, v := array(T, D), array(S, D), array(S, Dv)
		c.Scale = rapid.SampledFrom([]float64{0, 1, 0.3}).Draw(rt, "scale")
		scale := c.Scale
		if scale == 0 {
			scale = 1 / math.Sqrt(float64(D))
		}
		wantOut, wantWeights := naiveAttention(q, k, v, scale, sees)
		out, weights := attend(t, c, q, k, v)
		near(t, "weights", wantWeights, weights, 1e-12)
		near(t, "out", wantOut, out, 1e-12)
	})
}

func TestScaleZeroMeansOneOverRootD(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	q, k, v := normal(r, 2, 3, 7), normal(r, 2, 5, 7), normal(r, 2, 5, 11)
	byDefault, _ := attend(t, graph.AttentionConfig{}, q, k, v)
	given, _ := attend(t, graph.AttentionConfig{Scale: 1 / math.Sqrt(7)}, q, k, v)
	unscaled, _ := attend(t, graph.AttentionConfig{Scale: 1}, q, k, v)
	require.Equal(t, given, byDefault)
	require.NotEqual(t, given, unscaled)
}

func TestDropoutOfTheWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	in := append(inputs(normal(r, 2, 7, 5), normal(r, 2, 7, 5), normal(r, 2, 7, 3)), key(42))
	_, plain := attend(t, graph.AttentionConfig{Mask: mask.Causal{}}, in[0].array, in[1].array, in[2].array)
	var weights *G.Node
	e := express(t, func(in G.Nodes) (out *G.Node, err error) {
		c := graph.AttentionConfig{Mask: mask.Causal{}, Dropout: graph.DropoutConfig{P: 0.5, Key: in[3]}}
		out, weights, err = graph.Attention(in[0], in[1], in[2], c)
		return out, err
	}, in, tensor.Float64)
	e.grads = G.Nodes{weights}
	got := e.onOurs(t)
	dropped := 0
	for i, w := range got.grads[0].v {
		if w == 0 && plain.v[i] != 0 {
			dropped++
			continue
		}
		require.Equal(t, plain.v[i]*2, w) // 1/(1 − ½) is exact
	}
	require.NotZero(t, dropped)
	near(t, "out", naiveMatMul(got.grads[0], in[2].array), got.out, 1e-14)
}

// For scores far beyond the range of eˣ, each query picks a single key.
func TestAttentionOfHugeScores(t *testing.T) {
	for _, size := range []float64{1e4, 1e15} { // scores of 1e8 and 1e30
		for _, p := range tolerances {
			q, v := of([]float64{size, -size}, 2, 1), of([]float64{5, 7}, 2, 1)
			in := inputs(q, q, v)
			e := express(t, attention(graph.AttentionConfig{}), in, p.dt)
			e.differentiate(t, in, of([]float64{1, 1}, 2, 1), p.dt)
			got := e.onOurs(t)
			require.Equal(t, []float64{5, 7}, got.out.v)
			require.Equal(t, []float64{1, 1}, got.grads[2].v)
			for _, dx := range append(got.grads[0].v, got.grads[1].v...) {
				require.Zero(t, dx)
			}
		}
	}
}

// attention(x, x, x): the gradient gathers all three ways into x.
func TestAttentionOfOneNode(t *testing.T) {
	x, dy := normal(rand.New(rand.NewPCG(5, 6)), 3, 5), normal(rand.New(rand.NewPCG(7, 8)), 3, 5)
	_, dx := through(t, func(x *G.Node) (*G.Node, error) {
		return context(graph.Attention(x, x, x, graph.AttentionConfig{}))
	}, x, dy, tensor.Float64)
	in := inputs(x, x, x)
	apart := express(t, attention(graph.AttentionConfig{}), in, tensor.Float64)
	apart.differentiate(t, in, dy, tensor.Float64)
	got := apart.onOurs(t)
	sum := x.like()
	for i := range sum.v {
		sum.v[i] = got.grads[0].v[i] + got.grads[1].v[i] + got.grads[2].v[i]
	}
	near(t, "dx", sum, dx, 1e-12)
}

// Attention of any config has the same bits on both machines.
func TestMachinesAgreeOnAttention(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := shrinking{t, rt}
		a := drawAttention(rt)
		a.c.Sigmoid = a.sinks.name == "" && rapid.Bool().Draw(rt, "sigmoid")
		for _, fused := range []bool{false, true} {
			e, _ := a.express(s, fused)
			e.differentiate(s, make([]input, len(e.in)), normal(rand.New(rand.NewPCG(9, 9)), e.out.Shape()...), a.dt)
			tape, ours := e.onTape(s), e.onOurs(s)
			require.Equal(s, bits(tape.out), bits(ours.out))
			for i, name := range a.names() {
				require.Equal(s, bits(tape.grads[i]), bits(ours.grads[i]), name)
			}
		}
	})
}

// naiveAttention returns softmax(q·kᵀ·scale)·v, query by query, over the keys for which sees(t, s) is true.
func naiveAttention(q, k, v array, scale float64, sees func(t, s int) bool) (out, weights array) {
	qs, ks := q.matrices(), k.matrices()
	weights = q.like(q.axis(-2), k.axis(-2))
	w := weights.matrices()
	for n := range qs.shape[0] {
		for t := range qs.shape[1] {
			var sum float64
			for s := range ks.shape[1] {
				if !sees(t, s) {
					continue
				}
				var score float64
				for i := range qs.shape[2] {
					score += qs.at(n, t, i) * ks.at(n, s, i)
				}
				w.v[w.i(n, t, s)] = math.Exp(score * scale)
				sum += w.at(n, t, s)
			}
			for s := range ks.shape[1] {
				w.v[w.i(n, t, s)] /= sum
			}
		}
	}
	return naiveMatMul(weights, v), weights
}

func all(int, int) bool { return true }

func causal(t, s int) bool { return s <= t }

func rootScale(q array) float64 { return 1 / math.Sqrt(float64(q.axis(-1))) }

func context(out, _ *G.Node, err error) (*G.Node, error) { return out, err }

func attention(c graph.AttentionConfig) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) { return context(graph.Attention(in[0], in[1], in[2], c)) }
}

// attending returns naiveAttention as a reference for the tests; scale 0 means 1/√D.
func attending(scale float64, sees func(t, s int) bool) func(in []array) array {
	return func(in []array) array {
		c := scale
		if c == 0 {
			c = rootScale(in[0])
		}
		out, _ := naiveAttention(in[0], in[1], in[2], c, sees)
		return out
	}
}

func attentionCases() []opCase {
	return []opCase{
		{name: "attention", op: attention(graph.AttentionConfig{}), want: attending(0, all),
			in: shapes(s{2, 3, 5}, s{2, 7, 5}, s{2, 7, 11})},
		{name: "attention_scale", op: attention(graph.AttentionConfig{Scale: 0.3}), want: attending(0.3, all),
			in: shapes(s{3, 5}, s{7, 5}, s{7, 11})},
		{name: "attention_causal", op: attention(graph.AttentionConfig{Mask: mask.Causal{}}), want: attending(0, causal),
			in: shapes(s{2, 3, 7, 5}, s{2, 3, 7, 5}, s{2, 3, 7, 11})},
		{name: "attention_renormalized", op: attention(graph.AttentionConfig{Mask: mask.Causal{}}),
			want: attending(0, causal), in: shapes(s{2, 7, 5}, s{2, 7, 5}, s{2, 7, 11})},
	}
}

// A NaN in any score of a query reaches the output of this query and no other.
func TestNaNGoesThrough(t *testing.T) {
	for _, c := range []graph.AttentionConfig{{}, {Mask: mask.Causal{}}} {
		for bad := range 4 {
			q := of([]float64{1, 2, 3, 4}, 4, 1)
			k, v := of([]float64{4, 3, 2, 1}, 4, 1), of([]float64{1, 2, 3, 4}, 4, 1)
			q.v[bad] = nan
			out, _ := attend(t, c, q, k, v)
			for i, y := range out.v {
				require.Equal(t, i == bad, math.IsNaN(y), "%+v, NaN in query %d, output %d is %v", c, bad, i, y)
			}
		}
	}
}
