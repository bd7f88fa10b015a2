package graph_test

import (
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

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

func layoutCases() []opCase {
	transposed := func(in []array) array { return naiveTranspose(in[0]) }
	return []opCase{
		{"split", parts(2, 1, 0), naiveParts(2, 1, 0), shapes(s{2, 3, 7})},
		{"split_part", parts(1), naiveParts(1), shapes(s{2, 3, 7})},
		{"split_ends", parts(2, 0), naiveParts(2, 0), shapes(s{5, 7})},
		{"split_first", parts(0), naiveParts(0), shapes(s{5, 7})},
		{"split_twice", parts(1, 2, 1), naiveParts(1, 2, 1), shapes(s{2, 3, 7})},
		{"split_vector", parts(2, 1, 0), naiveParts(2, 1, 0), shapes(s{7})},
		{"split_row", parts(1, 2), naiveParts(1, 2), shapes(s{1, 7})},
		{"rows", rows(2, 1), naiveRows(2, 1), shapes(s{5, 2, 3})},
		{"rows_all", rows(5, 0), naiveRows(5, 0), shapes(s{5, 3})},
		{"rows_apart", rows(2, 3, 0), naiveRows(2, 3, 0), shapes(s{5, 3})},
		{"rows_overlap", rows(3, 1, 0, 2), naiveRows(3, 1, 0, 2), shapes(s{5, 2, 3})},
		{"rows_inside", rows(1, 4, 2), naiveRows(1, 4, 2), shapes(s{7})},
		{"transpose", unary(graph.Transpose), transposed, shapes(s{5, 7})},
		{"transpose_row", unary(graph.Transpose), transposed, shapes(s{1, 7})},
		{"transpose_tiles", unary(graph.Transpose), transposed, shapes(s{37, 53})},
		{"average_heads", unary(graph.AverageHeads), naiveAverageHeads, shapes(s{2, 3, 5, 7})},
		{"average_one_head", unary(graph.AverageHeads), naiveAverageHeads, shapes(s{1, 5, 7})},
		{"average_without_batch", unary(graph.AverageHeads), naiveAverageHeads, shapes(s{3, 5, 7})},
	}
}

// What is large is divided among goroutines. All these ops are linear, so dy·f(x) is
// dx·x for any x and dy.
func TestLayoutsOfManyRows(t *testing.T) {
	for _, c := range []opCase{
		{"split", parts(2, 1, 0), naiveParts(2, 1, 0), shapes(s{10007, 7})},
		{"split_ends", parts(2, 0), naiveParts(2, 0), shapes(s{101, 103, 7})},
		{"transpose", unary(graph.Transpose), func(in []array) array { return naiveTranspose(in[0]) }, shapes(s{701, 211})},
		{"average_heads", unary(graph.AverageHeads), naiveAverageHeads, shapes(s{3, 5, 67, 131})},
	} {
		in := c.in(random(3))
		e := express(t, c.op, in, tensor.Float64)
		dy := normal(random(4), e.out.Shape()...)
		e.differentiate(t, in, dy, tensor.Float64)
		got := e.onOurs(t)
		near(t, c.name, c.want([]array{in[0].array}), got.out, 1e-12)
		var forward, backward float64
		for i, v := range got.out.v {
			forward += v * dy.v[i]
		}
		for i, v := range got.grads[0].v {
			backward += v * in[0].v[i]
		}
		require.InEpsilon(t, forward, backward, 1e-9, c.name)
	}
}
