package graph_test

import "attention/graph"

func transposeCases() []opCase {
	transposed := func(in []array) array { return naiveTranspose(in[0]) }
	return []opCase{
		{"transpose", unary(graph.Transpose), transposed, shapes(s{5, 7})},
		{"transpose_row", unary(graph.Transpose), transposed, shapes(s{1, 7})},
		{"transpose_tiles", unary(graph.Transpose), transposed, shapes(s{37, 53})},
	}
}
