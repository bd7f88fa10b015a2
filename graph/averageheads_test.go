package graph_test

import "attention/graph"

func naiveAverageHeads(in []array) array {
	x := in[0].flat(3)
	y := zeros(in[0].lead(3, x.shape[2], x.shape[3])...)
	to := y.flat(2)
	for n := range x.shape[0] {
		for h := range x.shape[1] {
			for t := range x.shape[2] {
				for s := range x.shape[3] {
					to.v[to.i(n, t, s)] += x.at(n, h, t, s) / float64(x.shape[1])
				}
			}
		}
	}
	return y
}

func averageHeadsCases() []opCase {
	return []opCase{
		{"average_heads", unary(graph.AverageHeads), naiveAverageHeads, shapes(s{2, 3, 5, 7})},
		{"average_one_head", unary(graph.AverageHeads), naiveAverageHeads, shapes(s{1, 5, 7})},
		{"average_without_batch", unary(graph.AverageHeads), naiveAverageHeads, shapes(s{3, 5, 7})},
	}
}
