package graph_test

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

func repeatHeadsCases() []opCase {
	return []opCase{
		{"repeat_heads", unary(func(x *G.Node) (*G.Node, error) { return graph.RepeatHeads(x, 3) }),
			func(in []array) array { return naiveRepeatHeads(in[0], 3) }, shapes(s{2, 2, 5, 7})},
	}
}

// naiveRepeatHeads repeats every head of (…, K, S, D).
func naiveRepeatHeads(x array, times int) array {
	k, s, d := x.axis(-3), x.axis(-2), x.axis(-1)
	y := zeros(x.lead(3, k*times, s, d)...)
	from, to := x.flat(3), y.flat(3)
	for n := range from.shape[0] {
		for h := range k * times {
			for i := range s {
				for j := range d {
					to.v[to.i(n, h, i, j)] = from.at(n, h/times, i, j)
				}
			}
		}
	}
	return y
}
