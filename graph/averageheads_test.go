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

func averageHeadsCases() []opCase {
	return []opCase{
		{name: "average_heads", op: unary(graph.AverageHeads), want: naiveAverageHeads, in: shapes(s{2, 3, 5, 7})},
		{name: "average_one_head", op: unary(graph.AverageHeads), want: naiveAverageHeads, in: shapes(s{1, 5, 7})},
		{name: "average_without_batch", op: unary(graph.AverageHeads), want: naiveAverageHeads, in: shapes(s{3, 5, 7})},
	}
}

// Large tensors are divided among goroutines. All these ops are linear, so dy·f(x) is dx·x for any x and dy.
func TestLayoutsOfManyRows(t *testing.T) {
	for _, c := range []opCase{
		{name: "split", op: parts(2, 1, 0), want: naiveParts(2, 1, 0), in: shapes(s{10007, 7})},
		{name: "split_ends", op: parts(2, 0), want: naiveParts(2, 0), in: shapes(s{101, 103, 7})},
		{name: "transpose", op: unary(graph.Transpose), want: func(in []array) array { return naiveTranspose(in[0]) },
			in: shapes(s{701, 211})},
		{name: "average_heads", op: unary(graph.AverageHeads), want: naiveAverageHeads, in: shapes(s{3, 5, 67, 131})},
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
