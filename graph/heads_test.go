package graph_test

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

func headsCases() []opCase {
	return []opCase{
		{name: "split_heads", op: unary(func(x *G.Node) (*G.Node, error) { return graph.SplitHeads(x, 3) }),
			want: func(in []array) array { return naiveSplitHeads(in[0], 3) }, in: shapes(s{2, 5, 21})},
		{name: "split_one_head", op: unary(func(x *G.Node) (*G.Node, error) { return graph.SplitHeads(x, 1) }),
			want: func(in []array) array { return naiveSplitHeads(in[0], 1) }, in: shapes(s{2, 5, 3})},
		{name: "split_width_one", op: unary(func(x *G.Node) (*G.Node, error) { return graph.SplitHeads(x, 3) }),
			want: func(in []array) array { return naiveSplitHeads(in[0], 3) }, in: shapes(s{5, 3})},
		{name: "merge_one_head", op: unary(graph.MergeHeads),
			want: func(in []array) array { return naiveMergeHeads(in[0]) }, in: shapes(s{1, 5, 7})},
		{name: "merge_heads", op: unary(graph.MergeHeads),
			want: func(in []array) array { return naiveMergeHeads(in[0]) }, in: shapes(s{2, 3, 5, 7})},
	}
}

// naiveSplitHeads rearranges (…, T, H·D) to (…, H, T, D).
func naiveSplitHeads(x array, heads int) array {
	t, d := x.axis(-2), x.axis(-1)/heads
	y := zeros(x.lead(2, heads, t, d)...)
	from, to := x.matrices(), y.flat(3)
	for n := range from.shape[0] {
		for ti := range t {
			for h := range heads {
				for i := range d {
					to.v[to.i(n, h, ti, i)] = from.at(n, ti, h*d+i)
				}
			}
		}
	}
	return y
}

// naiveMergeHeads rearranges (…, H, T, D) to (…, T, H·D).
func naiveMergeHeads(x array) array {
	h, t, d := x.axis(-3), x.axis(-2), x.axis(-1)
	y := zeros(x.lead(3, t, h*d)...)
	from, to := x.flat(3), y.matrices()
	for n := range from.shape[0] {
		for hi := range h {
			for ti := range t {
				for i := range d {
					to.v[to.i(n, ti, hi*d+i)] = from.at(n, hi, ti, i)
				}
			}
		}
	}
	return y
}

func repeatHeadsCases() []opCase {
	return []opCase{
		{name: "repeat_heads", op: unary(func(x *G.Node) (*G.Node, error) { return graph.RepeatHeads(x, 3) }),
			want: func(in []array) array { return naiveRepeatHeads(in[0], 3) }, in: shapes(s{2, 2, 5, 7})},
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
