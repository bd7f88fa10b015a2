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
	}, floats(q, k, v), tensor.Float64)
	e.grads = G.Nodes{w} // any other node that is wanted
	r := e.onOurs(t)
	return r.out, r.grads[0]
}

// Any sizes, any number of leading axes, any mask: T=1, S=1, D=1 and one head
// among them.
func TestAttentionEqualsALoopOverQueries(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(1, 5)
		lead := rapid.SliceOfN(rapid.IntRange(1, 3), 0, 3).Draw(rt, "leading axes")
		T, S, D, Dv := size.Draw(rt, "T"), size.Draw(rt, "S"), size.Draw(rt, "D"), size.Draw(rt, "Dv")
		c, sees := graph.AttentionConfig{}, all
		switch rapid.IntRange(0, 2).Draw(rt, "mask") {
		case 1:
			c.Mask, sees, S = mask.Causal{}, causal, T
		case 2:
			c.Mask, c.Renormalize, sees, S = mask.Causal{}, true, causal, T
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

// Hiding scores before the softmax, or weights after it: the same weights, context
// vectors and gradients, up to rounding.
func TestBothCausalMasksAgree(t *testing.T) {
	for _, shape := range [][]int{{7, 5}, {2, 3, 7, 5}, {1, 1}} {
		r := rand.New(rand.NewPCG(7, 8))
		in := floats(normal(r, shape...), normal(r, shape...), normal(r, shape...))
		dout := normal(r, shape...)
		var got [2]result
		for i, renormalize := range []bool{false, true} {
			e := express(t, attention(graph.AttentionConfig{Mask: mask.Causal{}, Renormalize: renormalize}), in,
				tensor.Float64)
			e.differentiate(t, in, dout, tensor.Float64)
			got[i] = e.onOurs(t)
		}
		near(t, "out", got[0].out, got[1].out, 1e-12)
		for i := range in {
			near(t, "gradient", got[0].grads[i], got[1].grads[i], 1e-12)
		}
	}
}

func TestTrilThenNormalizeIsACausalSoftmax(t *testing.T) {
	x := normal(rand.New(rand.NewPCG(9, 10)), 2, 5, 5)
	renormalized := compute(t, func(in G.Nodes) (*G.Node, error) {
		w, err := graph.Softmax(in[0])
		require.NoError(t, err)
		w, err = graph.Tril(w)
		require.NoError(t, err)
		return graph.DivideBySum(w)
	}, x)
	masked := compute(t, func(in G.Nodes) (*G.Node, error) {
		hidden, err := fillBy(mask.Causal{})(in[0])
		require.NoError(t, err)
		return graph.Softmax(hidden)
	}, x)
	near(t, "weights", masked, renormalized, 1e-14)
}

// No query may learn anything from a later key or value: to the bit where scores
// are hidden, to rounding where weights are (their sum first held the later keys').
func TestCausalAttentionDoesNotSeeTheFuture(t *testing.T) {
	for _, c := range []struct {
		renormalize bool
		tol         float64
	}{{renormalize: false, tol: 0}, {renormalize: true, tol: 1e-14}} {
		r := rand.New(rand.NewPCG(11, 12))
		q, k, v := normal(r, 7, 5), normal(r, 7, 5), normal(r, 7, 3)
		before, _ := attend(t, graph.AttentionConfig{Mask: mask.Causal{}, Renormalize: c.renormalize}, q, k, v)
		for i := range 5 {
			k.v[k.i(4, i)]++ // key 4, and value 4
			v.v[v.i(4, i%3)]++
		}
		after, _ := attend(t, graph.AttentionConfig{Mask: mask.Causal{}, Renormalize: c.renormalize}, q, k, v)
		near(t, "queries before key 4", of(before.v[:4*3]), of(after.v[:4*3]), c.tol)
		for query := 4; query < 7; query++ {
			require.NotEqual(t, before.at(query, 0), after.at(query, 0), "query %d sees key 4", query)
		}
	}
}

// Where the masks differ: a hidden score so large that the softmax leaves nothing
// to the visible keys. Renormalising what is left, nothing, gives zeros, never NaN.
func TestAHiddenKeyThatTakesAllWeight(t *testing.T) {
	q, k, v := of([]float64{1, 1}, 2, 1), of([]float64{0, 1e4}, 2, 1), of([]float64{3, 5}, 2, 1)
	out, _ := attend(t, graph.AttentionConfig{Mask: mask.Causal{}}, q, k, v)
	require.Equal(t, []float64{3, 5}, out.v)
	out, _ = attend(t, graph.AttentionConfig{Mask: mask.Causal{}, Renormalize: true}, q, k, v)
	require.Equal(t, []float64{0, 5}, out.v)
}

func TestDropoutOfTheWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	in := append(floats(normal(r, 2, 7, 5), normal(r, 2, 7, 5), normal(r, 2, 7, 3)), key(42))
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

// hidden adds −∞ to the scores of all keys of query 1 before the softmax.
func hidden(t *testing.T, q, k, v *G.Node, mask *G.Node) *G.Node {
	t.Helper()
	scores, err := graph.Scores(q, k)
	require.NoError(t, err)
	scores, err = graph.Add(scores, mask)
	require.NoError(t, err)
	weights, err := graph.Softmax(scores)
	require.NoError(t, err)
	out, err := graph.MatMul(weights, v)
	require.NoError(t, err)
	return out
}

// A query that sees no key: weights 0, output 0, and no gradient into q, k or v.
func TestQueryThatSeesNoKey(t *testing.T) {
	for _, p := range tolerances {
		in := floats(of([]float64{1, 2, 3, 4}, 2, 2), of([]float64{1, 0, 0, 1, 1, 1}, 3, 2), of([]float64{1, 2, 3}, 3, 1))
		in = append(in, input{array: of([]float64{0, 0, 0, -inf, -inf, -inf}, 2, 3), fixed: true})
		e := express(t, func(in G.Nodes) (*G.Node, error) { return hidden(t, in[0], in[1], in[2], in[3]), nil }, in, p.dt)
		e.differentiate(t, in, of([]float64{0, 1}, 2, 1), p.dt) // only the blind query's output matters
		for _, got := range []result{e.onOurs(t), e.onTape(t)} {
			require.Zero(t, got.out.at(1, 0))
			require.NotZero(t, got.out.at(0, 0))
			for i, grad := range got.grads {
				require.Equal(t, make([]float64, len(grad.v)), grad.v, "gradient %d", i)
			}
		}
	}
}

// Scores far beyond what eˣ can hold pick one key each.
func TestAttentionOfHugeScores(t *testing.T) {
	for _, size := range []float64{1e4, 1e15} { // scores of 1e8 and 1e30
		for _, p := range tolerances {
			q, v := of([]float64{size, -size}, 2, 1), of([]float64{5, 7}, 2, 1)
			in := floats(q, q, v)
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
	in := floats(x, x, x)
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
