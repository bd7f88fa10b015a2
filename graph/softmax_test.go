package graph_test

import (
	"math"
	"testing"

	"attention/graph"
)

func softmaxCases() []opCase {
	return []opCase{
		{name: "softmax", op: unary(graph.Softmax), want: func(in []array) array { return naiveSoftmax(in[0]) },
			in: shapes(s{2, 3, 5})},
		{name: "softmax_vector", op: unary(graph.Softmax), want: func(in []array) array { return naiveSoftmax(in[0]) },
			in: shapes(s{7})},
	}
}

// naiveSoftmax takes the exponentials as they are: for numbers of moderate size.
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
