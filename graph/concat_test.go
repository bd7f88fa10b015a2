package graph_test

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

func concatCases() []opCase {
	return []opCase{
		{name: "concat", op: func(in G.Nodes) (*G.Node, error) { return graph.Concat(in...) }, want: naiveConcat,
			in: shapes(s{2, 3, 5}, s{2, 3, 1}, s{2, 3, 7})},
		{name: "concat_one", op: func(in G.Nodes) (*G.Node, error) { return graph.Concat(in...) }, want: naiveConcat,
			in: shapes(s{3})},
	}
}

func naiveConcat(xs []array) array {
	width := 0
	for _, x := range xs {
		width += x.axis(-1)
	}
	y, at := xs[0].like(width), 0
	to := y.rows()
	for _, x := range xs {
		from := x.rows()
		for r := range from.shape[0] {
			for c := range from.shape[1] {
				to.v[to.i(r, at+c)] = from.at(r, c)
			}
		}
		at += x.axis(-1)
	}
	return y
}
