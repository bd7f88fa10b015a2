package graph_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

// Setting the weights of hidden keys to zero and dividing by the sum of the others gives the softmax over the visible
// keys.
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

// No bit of a query's result may depend on a later key or value.
func TestCausalAttentionDoesNotSeeTheFuture(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	q, k, v := normal(r, 7, 5), normal(r, 7, 5), normal(r, 7, 3)
	before, _ := attend(t, graph.AttentionConfig{Mask: mask.Causal{}}, q, k, v)
	for i := range 5 {
		k.v[k.i(4, i)]++ // key 4, and value 4
		v.v[v.i(4, i%3)]++
	}
	after, _ := attend(t, graph.AttentionConfig{Mask: mask.Causal{}}, q, k, v)
	near(t, "queries before key 4", of(before.v[:4*3]), of(after.v[:4*3]), 0)
	for query := 4; query < 7; query++ {
		require.NotEqual(t, before.at(query, 0), after.at(query, 0), "query %d sees key 4", query)
	}
}

// A hidden score of any size takes no weight from the visible keys, in both types.
func TestAHiddenKeyThatWouldTakeAllWeight(t *testing.T) {
	for _, score := range []float64{80, 95, 110, 1e4} {
		for _, p := range tolerances {
			c := graph.AttentionConfig{Mask: mask.Causal{}}
			in := inputs(of([]float64{1, 1}, 2, 1), of([]float64{0, score}, 2, 1), of([]float64{3, 5}, 2, 1))
			for name, op := range map[string]func(in G.Nodes) (*G.Node, error){
				"composed": attention(c), "fused": fusedBy(c),
			} {
				e := express(t, op, in, p.dt)
				e.differentiate(t, in, of([]float64{1, 0}, 2, 1), p.dt) // the row of query 0, which sees key 0
				got := e.onOurs(t)
				what := fmt.Sprintf("%s, %+v, score %v, %v", name, c, score, p.dt)
				require.Equal(t, []float64{3, 5}, got.out.v, what)
				require.Equal(t, []float64{0, 0}, got.grads[0].v, what)
				require.Equal(t, []float64{0, 0}, got.grads[1].v, what)
				require.Equal(t, []float64{1, 0}, got.grads[2].v, what)
			}
		}
	}
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
		in := inputs(of([]float64{1, 2, 3, 4}, 2, 2), of([]float64{1, 0, 0, 1, 1, 1}, 3, 2), of([]float64{1, 2, 3}, 3, 1))
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
