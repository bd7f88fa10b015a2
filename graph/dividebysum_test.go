package graph_test

import (
	"testing"

	"attention/graph"
)

func divideBySumCases() []opCase {
	return []opCase{
		{name: "normalize", op: unary(graph.DivideBySum), want: func(in []array) array { return naiveNormalize(in[0]) },
			in: shapes(s{2, 3, 5})},
	}
}

func naiveNormalize(x array) array {
	y := x.like()
	from, to := x.rows(), y.rows()
	for r := range from.shape[0] {
		var sum float64
		for c := range from.shape[1] {
			sum += from.at(r, c)
		}
		for c := range from.shape[1] {
			if sum != 0 {
				to.v[to.i(r, c)] = from.at(r, c) / sum
			}
		}
	}
	return y
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
