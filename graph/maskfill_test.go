package graph_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// masking makes a mask in a graph.
type masking func(g *G.ExprGraph) mask.Mask

// is a mask without nodes.
func is(m mask.Mask) masking { return func(*G.ExprGraph) mask.Mask { return m } }

func keys(x input) masking {
	return func(g *G.ExprGraph) mask.Mask {
		return mask.KeyLengths{Lengths: node(g, "lengths", x.array, tensor.Int)}
	}
}

func within(query, key input) masking {
	return func(g *G.ExprGraph) mask.Mask {
		return mask.Segments{Query: node(g, "query", query.array, tensor.Int64),
			Key: node(g, "key", key.array, tensor.Int64)}
	}
}

func keeping(x array) masking {
	return func(g *G.ExprGraph) mask.Mask { return mask.Keep{Keep: node(g, "keep", x, tensor.Float32)} }
}

func fillBy(m mask.Mask) func(x *G.Node) (*G.Node, error) {
	return func(x *G.Node) (*G.Node, error) { return graph.MaskFill(x, m) }
}

// hiding applies MaskFill with a mask to zeros, the scores (B, H, T, S).
func hiding(t testing.TB, m masking, shape ...int) array {
	t.Helper()
	return compute(t, func(in G.Nodes) (*G.Node, error) { return graph.MaskFill(in[0], m(in[0].Graph())) },
		zeros(shape...))
}

// printed returns a line for each query, with # for visible and - for hidden keys.
func printed(x array) string {
	var b strings.Builder
	for i, v := range x.v {
		if i > 0 && i%x.axis(-1) == 0 {
			b.WriteByte('\n')
		}
		switch {
		case v == 0:
			b.WriteByte('#')
		case math.IsInf(v, -1):
			b.WriteByte('-')
		default:
			fmt.Fprint(&b, v)
		}
	}
	return b.String()
}

// The picture of each mask.
func TestMasksPrinted(t *testing.T) {
	prefixed := mask.Or(mask.Causal{}, mask.Prefix{N: 2})
	for _, c := range []struct {
		mask masking
		t, s int
		want string // a line for each query
	}{
		{mask: is(nil), t: 2, s: 3, want: "###\n###"},
		{mask: is(mask.All{}), t: 2, s: 3, want: "###\n###"},
		{mask: is(mask.Causal{}), t: 4, s: 4, want: "#---\n##--\n###-\n####"},
		{mask: is(mask.Causal{Align: mask.UpperLeft}), t: 2, s: 4, want: "#---\n##--"},
		{mask: is(mask.Causal{Align: mask.UpperLeft}), t: 4, s: 2, want: "#-\n##\n##\n##"},
		{mask: is(mask.Causal{Align: mask.LowerRight}), t: 2, s: 4, want: "###-\n####"},
		{mask: is(mask.SlidingWindow{Left: 1}), t: 4, s: 4, want: "#---\n##--\n-##-\n--##"},
		{mask: is(mask.SlidingWindow{Right: 1}), t: 3, s: 3, want: "##-\n-##\n--#"},
		{mask: is(mask.SlidingWindow{}), t: 3, s: 3, want: "#--\n-#-\n--#"},
		{mask: is(mask.SlidingWindow{Left: 1, Align: mask.UpperLeft}), t: 4, s: 2, want: "#-\n##\n-#\n--"},
		{mask: is(mask.SlidingWindow{Left: 1, Right: 1, Align: mask.LowerRight}), t: 2, s: 5, want: "--###\n---##"},
		{mask: is(mask.SlidingWindow{Left: math.MaxInt}), t: 3, s: 3, want: "#--\n##-\n###"},
		{mask: is(mask.SlidingWindow{Left: math.MaxInt, Right: math.MaxInt}), t: 2, s: 2, want: "##\n##"},
		{mask: is(mask.Prefix{}), t: 1, s: 3, want: "---"},
		{mask: is(mask.Prefix{N: 2}), t: 2, s: 3, want: "##-\n##-"},
		{mask: is(mask.Prefix{N: math.MaxInt}), t: 1, s: 3, want: "###"},
		{mask: is(prefixed), t: 4, s: 4, want: "##--\n##--\n###-\n####"},
		{mask: is(mask.Not(mask.Causal{})), t: 3, s: 3, want: "-##\n--#\n---"},
		{mask: is(mask.Not(mask.SlidingWindow{Left: 1})), t: 4, s: 4, want: "-###\n--##\n#--#\n##--"},
		{mask: is(mask.And(mask.Causal{}, mask.SlidingWindow{Right: 2}, mask.Prefix{N: 2})), t: 3, s: 3,
			want: "#--\n-#-\n---"},
		{mask: keys(ids([]float64{2}, 1)), t: 2, s: 3, want: "##-\n##-"},
		{mask: keys(ids([]float64{0}, 1)), t: 1, s: 3, want: "---"},
		{mask: keys(ids([]float64{3}, 1)), t: 1, s: 3, want: "###"},
		{mask: within(ids([]float64{5, 7, 5}, 1, 3), ids([]float64{5, 5, 7, 5, -1}, 1, 5)), t: 3, s: 5,
			want: "##-#-\n--#--\n##-#-"},
		{mask: within(ids([]float64{1, 2}, 1, 2), ids([]float64{2, 2}, 1, 2)), t: 2, s: 2, want: "--\n##"},
		{mask: keeping(of([]float64{1, 0, 1})), t: 2, s: 3, want: "#-#\n#-#"},
		{mask: keeping(of([]float64{1, 0}, 2, 1)), t: 2, s: 3, want: "###\n---"},
		{mask: keeping(array{nil, []float64{0}}), t: 2, s: 2, want: "--\n--"},
		{mask: keeping(array{nil, []float64{1}}), t: 2, s: 2, want: "##\n##"},
	} {
		require.Equal(t, c.want, printed(hiding(t, c.mask, 1, 1, c.t, c.s)), "%#v of %d queries, %d keys",
			c.mask(G.NewGraph()), c.t, c.s)
	}
}

// Every batch and every head has its own mask if the mask's nodes have these axes.
func TestMasksOfBatchesAndHeads(t *testing.T) {
	require.Equal(t, "#--\n###\n#--\n###\n---\n#--\n---\n#--",
		printed(hiding(t, func(g *G.ExprGraph) mask.Mask {
			return mask.And(keys(ids([]float64{3, 1}, 2))(g), keeping(of([]float64{1, 0, 0, 1, 1, 1}, 1, 2, 3))(g),
				mask.Not(keeping(of([]float64{0, 0, 1, 0}, 2, 1, 2, 1))(g)))
		}, 2, 2, 2, 3)))
	require.Equal(t, "#-\n-#", printed(hiding(t, keeping(of([]float64{1, 0, 0, 1}, 2, 1, 2)), 2, 1, 2)),
		"three axes: no heads'")
	require.Equal(t, "#-\n-#", printed(hiding(t, keeping(of([]float64{1, 0, 0, 1}, 2, 1, 2)), 1, 2, 1, 2)),
		"four axes: the heads'")
}

// naiveTriangle writes hidden above the diagonal.
func naiveTriangle(x array, hidden float64) array {
	y := x.like()
	from, to := x.matrices(), y.matrices()
	for n := range from.shape[0] {
		for t := range from.shape[1] {
			for s := range from.shape[2] {
				to.v[to.i(n, t, s)] = from.at(n, t, s)
				if s > t {
					to.v[to.i(n, t, s)] = hidden
				}
			}
		}
	}
	return y
}

func maskFillCases() []opCase {
	return []opCase{
		{name: "causal_fill", op: unary(fillBy(mask.Causal{})),
			want: func(in []array) array { return naiveTriangle(in[0], -inf) }, in: shapes(s{2, 5, 5})},
		{name: "tril", op: unary(graph.Tril), want: func(in []array) array { return naiveTriangle(in[0], 0) },
			in: shapes(s{2, 3, 5, 5})},
	}
}
