package graph_test

import (
	"math"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

func softmaxCases() []opCase {
	return []opCase{
		{name: "softmax", op: unary(graph.Softmax), want: func(in []array) array { return naiveSoftmax(in[0]) },
			in: shapes(s{2, 3, 5})},
		{name: "softmax_vector", op: unary(graph.Softmax), want: func(in []array) array { return naiveSoftmax(in[0]) },
			in: shapes(s{7})},
	}
}

// naiveSoftmax computes the exponentials without a shift, for numbers of moderate size.
func naiveSoftmax(x array) array {
	return naiveNormalize(naiveEach(x, x, func(v, _ float64) float64 { return math.Exp(v) }))
}

func TestSoftmaxOfExtremeRows(t *testing.T) {
	third := 1.0 / 3
	e := math.Exp(-1)
	for _, c := range []struct {
		name    string
		x, want []float64
	}{
		{name: "zeros", x: []float64{0, 0, 0}, want: []float64{third, third, third}},
		{name: "all hidden", x: []float64{-inf, -inf, -inf}, want: []float64{0, 0, 0}},
		{name: "one visible", x: []float64{-inf, -1e30, -inf}, want: []float64{0, 1, 0}},
		{name: "±1e4", x: []float64{-1e4, 1e4, 0}, want: []float64{0, 1, 0}},
		{name: "1e4 and a little less", x: []float64{1e4, 1e4 - 1, -inf}, want: []float64{1 / (1 + e), e / (1 + e), 0}},
		{name: "±1e30", x: []float64{1e30, -1e30, 1e30}, want: []float64{0.5, 0, 0.5}},
		{name: "−1e30 throughout", x: []float64{-1e30, -1e30, -1e30}, want: []float64{third, third, third}},
		{name: "NaN first", x: []float64{nan, 0, 0}, want: []float64{nan, nan, nan}},
		{name: "NaN last", x: []float64{0, 0, nan}, want: []float64{nan, nan, nan}},
		{name: "NaN before hidden keys", x: []float64{nan, -inf, -inf}, want: []float64{nan, nan, nan}},
		{name: "NaN after hidden keys", x: []float64{-inf, -inf, nan}, want: []float64{nan, nan, nan}},
		{name: "+∞", x: []float64{inf, 0, 0}, want: []float64{nan, nan, nan}}, // as in PyTorch
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

// naiveSoftmaxGradient returns Σⱼ dyⱼ·yⱼ·(δᵢⱼ − yᵢ), element by element.
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

// Scores of any size have a logarithm. Hidden scores stay −∞, and a row with only hidden scores passes no gradient.
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
