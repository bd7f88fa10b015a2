package graph_test

import (
	"math"

	"attention/graph"

	G "gorgonia.org/gorgonia"
)

func additiveCases() []opCase {
	return []opCase{
		{name: "pairwise_add", op: func(in G.Nodes) (*G.Node, error) { return graph.PairwiseAdd(in[0], in[1]) },
			want: func(in []array) array { return naivePairwiseAdd(in[0], in[1]) }, in: shapes(s{2, 3, 7}, s{2, 5, 7})},
		{name: "additive", op: func(in G.Nodes) (*G.Node, error) {
			return context(graph.AdditiveAttention(in[0], in[1], in[2], in[3], nil))
		}, want: func(in []array) array { return naiveAdditive(in[0], in[1], in[2], in[3]) },
			in: shapes(s{2, 3, 7}, s{2, 5, 7}, s{1, 7}, s{2, 5, 11})},
		{name: "additive_ones", op: func(in G.Nodes) (*G.Node, error) {
			return context(graph.AdditiveAttention(in[0], in[1], in[2], in[3], nil))
		}, want: func(in []array) array { return in[3] }, in: shapes(s{1, 1}, s{1, 1}, s{1, 1}, s{1, 1})},
	}
}

func naivePairwiseAdd(q, k array) array {
	a, t, s := q.axis(-1), q.axis(-2), k.axis(-2)
	y := zeros(q.lead(1, s, a)...)
	x, w, to := q.matrices(), k.matrices(), y.flat(3)
	for n := range x.shape[0] {
		for ti := range t {
			for si := range s {
				for i := range a {
					to.v[to.i(n, ti, si, i)] = x.at(n, ti, i) + w.at(n, si, i)
				}
			}
		}
	}
	return y
}

// naiveAdditive computes one score at a time: v·tanh(q[t] + k[s]).
func naiveAdditive(q, k, v, value array) array {
	x, w := q.matrices(), k.matrices()
	scores := q.like(q.axis(-2), k.axis(-2))
	to := scores.matrices()
	for n := range x.shape[0] {
		for t := range x.shape[1] {
			for s := range w.shape[1] {
				for i := range x.shape[2] {
					to.v[to.i(n, t, s)] += v.v[i] * math.Tanh(x.at(n, t, i)+w.at(n, s, i))
				}
			}
		}
	}
	return naiveMatMul(naiveSoftmax(scores), value)
}
