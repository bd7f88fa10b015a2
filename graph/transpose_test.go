package graph_test

import (
	"attention/graph"
)

func transposeCases() []opCase {
	transposed := func(in []array) array { return naiveTranspose(in[0]) }
	return []opCase{
		{name: "transpose", op: unary(graph.Transpose), want: transposed, in: shapes(s{5, 7})},
		{name: "transpose_row", op: unary(graph.Transpose), want: transposed, in: shapes(s{1, 7})},
		{name: "transpose_tiles", op: unary(graph.Transpose), want: transposed, in: shapes(s{37, 53})},
	}
}

// naiveTranspose swaps the last two axes.
func naiveTranspose(a array) array {
	x, y := a.matrices(), a.like(a.axis(-1), a.axis(-2))
	z := y.matrices()
	for n := range x.shape[0] {
		for i := range x.shape[1] {
			for j := range x.shape[2] {
				z.v[z.i(n, j, i)] = x.at(n, i, j)
			}
		}
	}
	return y
}
