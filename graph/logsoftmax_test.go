package graph_test

import (
	"math"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

func logSoftmaxCases() []opCase {
	want := func(in []array) array {
		y := naiveSoftmax(in[0])
		for i, v := range y.v {
			y.v[i] = math.Log(v)
		}
		return y
	}
	return []opCase{
		{name: "log_softmax", op: unary(graph.LogSoftmax), want: want, in: shapes(s{2, 3, 5})},
		{name: "log_softmax_long", op: unary(graph.LogSoftmax), want: want, in: shapes(s{2, 1100})},
		{name: "log_softmax_one", op: unary(graph.LogSoftmax), want: want, in: shapes(s{3, 1})},
	}
}

// Scores of any size have a logarithm; what is hidden stays so, and a row in which all is
// hidden passes no gradient.
func TestLogSoftmaxOfExtremeScores(t *testing.T) {
	x := of([]float64{1e30, -1e30, 0, 1e4, 1e4 - 1, -inf, -inf, -inf, -inf}, 3, 3)
	rest := math.Log1p(math.Exp(-1))
	want := of([]float64{0, -2e30, -1e30, -rest, -1 - rest, -inf, -inf, -inf, -inf}, 3, 3)
	p := 1 / (1 + math.Exp(-1))
	for _, c := range tolerances {
		y, dx := through(t, graph.LogSoftmax, x, of([]float64{1, 2, 3, 1, 2, 0, 7, 8, 9}, 3, 3), c.dt)
		near(t, "y", want, y, c.tol)
		near(t, "dx", of([]float64{-5, 2, 3, 1 - 3*p, 2 - 3*(1-p), 0, 0, 0, 0}, 3, 3), dx, c.tol)
	}
}

func TestLogSoftmaxOfAScalarIsRefused(t *testing.T) {
	_, err := graph.LogSoftmax(bench{G.NewGraph()}.f())
	require.EqualError(t, err, "graph: LogSoftmax: x: shape (), want (…, S)")
}
