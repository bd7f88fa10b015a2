package graph_test

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

func matMulCases() []opCase {
	product := func(in []array) array { return naiveMatMul(in[0], in[1]) }
	withTransposed := func(in []array) array { return naiveMatMul(in[0], naiveTranspose(in[1])) }
	return []opCase{
		{name: "linear", op: linear, want: naiveLinear, in: shapes(s{2, 3, 5}, s{7, 5}, s{7})},
		{name: "linear_no_bias", op: linear, want: naiveLinear, in: shapes(s{3, 5}, s{7, 5})},
		{name: "linear_vector", op: linear, want: naiveLinear, in: shapes(s{5}, s{7, 5}, s{7})},
		{name: "linear_ones", op: linear, want: naiveLinear, in: shapes(s{1, 1}, s{1, 1}, s{1})},
		{name: "matmul", op: matMul, want: product, in: shapes(s{7, 3}, s{3, 5})},
		{name: "matmul_rows", op: matMul, want: product, in: shapes(s{2, 7, 3}, s{3, 5})},
		{name: "matmul_batch", op: matMul, want: product, in: shapes(s{2, 5, 7, 3}, s{2, 5, 3, 11})},
		{name: "matmul_vector", op: matMul, want: func(in []array) array {
			y := naiveMatMul(of(in[0].v, 1, 3), in[1])
			return of(y.v)
		}, in: shapes(s{3}, s{3, 5})},
		{name: "scores", op: scores, want: withTransposed, in: shapes(s{2, 3, 5, 7}, s{2, 3, 11, 7})},
		{name: "scores_one", op: scores, want: withTransposed, in: shapes(s{5, 7}, s{11, 7})},
		{name: "scores_single", op: scores, want: withTransposed, in: shapes(s{3, 1, 1}, s{3, 1, 1})},
	}
}

func linear(in G.Nodes) (*G.Node, error) {
	if len(in) == 2 {
		return graph.Linear(in[0], in[1], nil)
	}
	return graph.Linear(in[0], in[1], in[2])
}

func matMul(in G.Nodes) (*G.Node, error) { return graph.MatMul(in[0], in[1]) }

func scores(in G.Nodes) (*G.Node, error) { return graph.Scores(in[0], in[1]) }

// The formulas of the package again, as plain loops.

// naiveMatMul returns a·b for each pair of matrices, or with one b for all.
func naiveMatMul(a, b array) array {
	x, w := a.matrices(), b.matrices()
	y := a.like(a.axis(-2), b.axis(-1))
	z := y.matrices()
	for n := range x.shape[0] {
		for i := range x.shape[1] {
			for j := range w.shape[2] {
				for k := range x.shape[2] {
					z.v[z.i(n, i, j)] += x.at(n, i, k) * w.at(n%w.shape[0], k, j)
				}
			}
		}
	}
	return y
}

func naiveLinear(in []array) array {
	x, w := in[0].rows(), in[1]
	y := in[0].like(w.shape[0])
	z := y.rows()
	for r := range x.shape[0] {
		for o := range w.shape[0] {
			if len(in) > 2 {
				z.v[z.i(r, o)] = in[2].at(o)
			}
			for i := range w.shape[1] {
				z.v[z.i(r, o)] += x.at(r, i) * w.at(o, i)
			}
		}
	}
	return y
}
