package graph_test

import (
	"math"
	"testing"

	"attention/graph"
)

func softmaxCases() []opCase {
	return []opCase{
		{"softmax", unary(graph.Softmax), func(in []array) array { return naiveSoftmax(in[0]) }, shapes(s{2, 3, 5})},
		{"softmax_vector", unary(graph.Softmax), func(in []array) array { return naiveSoftmax(in[0]) }, shapes(s{7})},
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
