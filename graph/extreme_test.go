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

func TestSoftmaxOfExtremeRows(t *testing.T) {
	third := 1.0 / 3
	e := math.Exp(-1)
	for _, c := range []struct {
		name    string
		x, want []float64
	}{
		{"zeros", []float64{0, 0, 0}, []float64{third, third, third}},
		{"all hidden", []float64{-inf, -inf, -inf}, []float64{0, 0, 0}},
		{"one visible", []float64{-inf, -1e30, -inf}, []float64{0, 1, 0}},
		{"±1e4", []float64{-1e4, 1e4, 0}, []float64{0, 1, 0}},
		{"1e4 and a little less", []float64{1e4, 1e4 - 1, -inf}, []float64{1 / (1 + e), e / (1 + e), 0}},
		{"±1e30", []float64{1e30, -1e30, 1e30}, []float64{0.5, 0, 0.5}},
		{"−1e30 throughout", []float64{-1e30, -1e30, -1e30}, []float64{third, third, third}},
		{"NaN first", []float64{nan, 0, 0}, []float64{nan, nan, nan}},
		{"NaN last", []float64{0, 0, nan}, []float64{nan, nan, nan}},
		{"NaN before hidden keys", []float64{nan, -inf, -inf}, []float64{nan, nan, nan}},
		{"NaN after hidden keys", []float64{-inf, -inf, nan}, []float64{nan, nan, nan}},
		{"+∞", []float64{inf, 0, 0}, []float64{nan, nan, nan}}, // as in PyTorch
	} {
		for _, p := range tolerances {
			t.Run(c.name+"/"+p.dt.String(), func(t *testing.T) {
				// A second row shows that rows do not touch each other.
				x, want := of(append(c.x, 0, 0, 0), 2, 3), of(append(c.want, third, third, third), 2, 3)
				dout := of([]float64{1, 2, -3, 0.5, 0, 0.25}, 2, 3)
				y, dx := through(t, graph.Softmax, x, dout, p.dt)
				near(t, "y", want, y, p.tol)
				near(t, "dx", naiveSoftmaxGradient(want, dout), dx, p.tol)
			})
		}
	}
}

// naiveSoftmaxGradient is Σⱼ dyⱼ·yⱼ·(δᵢⱼ − yᵢ), element by element.
func naiveSoftmaxGradient(y, dy array) array {
	dx := y.like()
	for r := range y.shape[0] {
		for i := range y.shape[1] {
			for j := range y.shape[1] {
				same := 0.0
				if i == j {
					same = 1
				}
				dx.v[dx.i(r, i)] += dy.at(r, j) * y.at(r, j) * (same - y.at(r, i))
			}
		}
	}
	return dx
}

func TestNormalizeOfARowThatSumsToZero(t *testing.T) {
	for _, p := range tolerances {
		x := of([]float64{0, 0, 0, 1, -1, 0, 1, 2, 1}, 3, 3)
		dout := of([]float64{1, 2, 3, 1, 2, 3, 1, 2, 4}, 3, 3)
		y, dx := through(t, graph.DivideBySum, x, dout, p.dt)
		near(t, "y", of([]float64{0, 0, 0, 0, 0, 0, 0.25, 0.5, 0.25}, 3, 3), y, p.tol)
		// dx = (dy − Σ dy⊙y)/s, here (dy − 2.25)/4.
		near(t, "dx", of([]float64{0, 0, 0, 0, 0, 0, -0.3125, -0.0625, 0.4375}, 3, 3), dx, p.tol)
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

// −∞ as a logit is a token that cannot come; as the target's it is an infinite loss.
func TestCrossEntropyOfExtremeLogits(t *testing.T) {
	for _, c := range []struct {
		name   string
		logits []float64
		target float64
		want   float64
	}{
		{"huge and right", []float64{1e30, -1e30, 0}, 0, 0},
		{"huge and wrong", []float64{1e4, 0, 0}, 1, 1e4},
		{"impossible others", []float64{-inf, 3, -inf}, 1, 0},
		{"impossible target", []float64{-inf, 3, 3}, 0, inf},
		{"NaN", []float64{0, nan, 0}, 0, nan},
	} {
		for _, p := range tolerances {
			t.Run(c.name+"/"+p.dt.String(), func(t *testing.T) {
				in := append(floats(of(c.logits, 1, 3)), ids([]float64{c.target}))
				got := express(t, func(in G.Nodes) (*G.Node, error) { return graph.CrossEntropy(in[0], in[1]) }, in, p.dt).onOurs(t)
				near(t, "loss", array{[]int{}, []float64{c.want}}, got.out, p.tol)
			})
		}
	}
}
