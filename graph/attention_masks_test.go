package graph_test

import (
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

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
