package graph_test

import (
	"math"
	"testing"

	"attention/graph"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

var inf, nan = math.Inf(1), math.NaN()

// through runs an op of one argument and its gradient on both machines, which must
// agree, and returns the value and the gradient.
func through(t *testing.T, op func(x *G.Node) (*G.Node, error), x, dout array, dt tensor.Dtype) (y, dx array) {
	t.Helper()
	in := floats(x)
	e := express(t, unary(op), in, dt)
	e.differentiate(t, in, dout, dt)
	ours, tape := e.onOurs(t), e.onTape(t)
	require.Equal(t, bits(tape.out), bits(ours.out))
	require.Equal(t, bits(tape.grads[0]), bits(ours.grads[0]))
	return ours.out, ours.grads[0]
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

// A NaN anywhere in a query's score shows in its output and in no other's.
func TestNaNGoesThrough(t *testing.T) {
	for _, c := range []graph.AttentionConfig{{}, {Mask: mask.Causal{}}, {Mask: mask.Causal{}, Renormalize: true}} {
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
