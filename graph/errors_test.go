package graph_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// bench is a graph with nodes to misuse.
type bench struct{ g *G.ExprGraph }

// f returns a float64 input of a shape.
func (b bench) f(shape ...int) *G.Node { return b.of(tensor.Float64, shape...) }

func (b bench) ids(shape ...int) *G.Node { return b.of(tensor.Int, shape...) }

func (b bench) of(dt tensor.Dtype, shape ...int) *G.Node {
	name := G.WithName(fmt.Sprint(dt, shape))
	if len(shape) == 0 {
		return G.NewScalar(b.g, dt, name)
	}
	return G.NewTensor(b.g, dt, len(shape), G.WithShape(shape...), name)
}

// refusal is a call that fails, and its error text without the prefix "graph: ".
type refusal struct {
	call func() (*G.Node, error)
	want string
}

func call(op func(...*G.Node) (*G.Node, error), in ...*G.Node) func() (*G.Node, error) {
	return func() (*G.Node, error) { return op(in...) }
}

func one(op func(x *G.Node) (*G.Node, error)) func(...*G.Node) (*G.Node, error) {
	return func(in ...*G.Node) (*G.Node, error) { return op(in[0]) }
}

func two(op func(x, y *G.Node) (*G.Node, error)) func(...*G.Node) (*G.Node, error) {
	return func(in ...*G.Node) (*G.Node, error) { return op(in[0], in[1]) }
}

func three(op func(x, y, z *G.Node) (*G.Node, error)) func(...*G.Node) (*G.Node, error) {
	return func(in ...*G.Node) (*G.Node, error) { return op(in[0], in[1], in[2]) }
}

func split(heads int) func(...*G.Node) (*G.Node, error) {
	return one(func(x *G.Node) (*G.Node, error) { return graph.SplitHeads(x, heads) })
}

func scale(factor float64) func(...*G.Node) (*G.Node, error) {
	return one(func(x *G.Node) (*G.Node, error) { return graph.Scale(x, factor) })
}

func drop(p float64) func(...*G.Node) (*G.Node, error) {
	return two(func(x, key *G.Node) (*G.Node, error) { return graph.Dropout(x, graph.DropoutConfig{P: p, Key: key}) })
}

func attentionBy(c graph.AttentionConfig) func(...*G.Node) (*G.Node, error) {
	return three(func(q, k, v *G.Node) (*G.Node, error) { return context(graph.Attention(q, k, v, c)) })
}

func additiveBy(in ...*G.Node) (*G.Node, error) {
	return context(graph.AdditiveAttention(in[0], in[1], in[2], in[3], nil))
}

func (b bench) refuseShapes() []refusal {
	plain := attentionBy(graph.AttentionConfig{})
	entropy := two(func(x, y *G.Node) (*G.Node, error) { return graph.CrossEntropy(x, y, graph.CrossEntropyConfig{}) })
	causal := attentionBy(graph.AttentionConfig{Mask: mask.Causal{}})
	return []refusal{
		{call: call(one(graph.Softmax), b.f()), want: "Softmax: x: shape (), want (…, S)"},
		{call: call(one(graph.DivideBySum), b.f()), want: "DivideBySum: x: shape (), want (…, S)"},
		{call: call(one(fillBy(mask.Causal{})), b.f(3)), want: "MaskFill: scores: shape (3), want (…, T, S)"},
		{call: call(one(graph.Tril), b.f(3)), want: "Tril: x: shape (3), want (…, T, T)"},
		{call: call(one(graph.Tril), b.f(3, 3, 2)), want: "Tril: x: shape (3, 3, 2), want (…, T, T)"},
		{call: call(split(2), b.f(4)), want: "SplitHeads: x: shape (4), want (…, T, H·D) with H=2"},
		{call: call(split(3), b.f(2, 4)), want: "SplitHeads: x: shape (2, 4), want (…, T, H·D) with H=3"},
		{call: call(split(0), b.f(2, 4)), want: "SplitHeads: heads: got 0, want at least 1"},
		{call: call(split(-1), b.f(2, 4)), want: "SplitHeads: heads: got -1, want at least 1"},
		{call: call(one(graph.MergeHeads), b.f(2, 4)), want: "MergeHeads: x: shape (2, 4), want (…, H, T, D)"},
		{call: call(two(graph.MatMul), b.f(), b.f(3, 2)), want: "MatMul: a: shape (), want (…, In)"},
		{call: call(two(graph.MatMul), b.f(2, 3), b.f(2, 3)), want: "MatMul: b: shape (2, 3), want (N=3, P)"},
		{call: call(two(graph.MatMul), b.f(3), b.f(1, 3, 2)), want: "MatMul: a: shape (3), want (…, M, N)"},
		{call: call(two(graph.MatMul), b.f(2, 3), b.f(3)), want: "MatMul: b: shape (3), want (3, P)"},
		{call: call(two(graph.MatMul), b.f(5, 2, 3), b.f(7, 3, 2)), want: "MatMul: b: shape (7, 3, 2), want (5, 3, P)"},
		{call: call(two(graph.Scores), b.f(3), b.f(3)), want: "Scores: q: shape (3), want (…, T, D)"},
		{call: call(two(graph.Scores), b.f(2, 3), b.f(3, 2)), want: "Scores: k: shape (3, 2), want (S, 3)"},
		{call: call(two(graph.Scores), b.f(5, 2, 3), b.f(2, 3)), want: "Scores: k: shape (2, 3), want (5, S, 3)"},
		{call: call(three(graph.Linear), b.f(), b.f(2, 3), nil), want: "Linear: x: shape (), want (…, In)"},
		{call: call(three(graph.Linear), b.f(2, 3), b.f(3, 2), nil), want: "Linear: weight: shape (3, 2), want (Out, In=3)"},
		{call: call(three(graph.Linear), b.f(2, 3), b.f(3), nil), want: "Linear: weight: shape (3), want (Out, In=3)"},
		{call: call(three(graph.Linear), b.f(2, 3), b.f(7, 3), b.f(3)), want: "Linear: bias: shape (3), want (Out=7)"},
		{call: call(three(graph.Linear), b.f(2, 3), b.f(7, 3), b.f(2, 7)), want: "Linear: bias: shape (2, 7), want (Out=7)"},
		{call: call(three(graph.Linear), b.f(2, 3), b.f(7, 3), b.f()), want: "Linear: bias: shape (), want (Out=7)"},
		{call: call(two(graph.Add), b.f(2, 3), b.f(2)), want: "Add: y: shape (2), want one that broadcasts with (2, 3)"},
		{call: call(two(graph.Sub), b.f(2), b.f(2, 3)), want: "Sub: y: shape (2, 3), want one that broadcasts with (2)"},
		{call: call(two(graph.Mul), b.f(5, 2, 3), b.f(2, 2, 3)),
			want: "Mul: y: shape (2, 2, 3), want one that broadcasts with (5, 2, 3)"},
		{call: call(two(graph.Div), b.f(2, 3), b.f(2, 0)), want: "Div: y: shape (2, 0), want every axis at least 1"},
		{call: call(graph.Concat), want: "Concat: xs: got none, want at least one node"},
		{call: call(graph.Concat, b.f()), want: "Concat: xs[0]: shape (), want (…, E)"},
		{call: call(graph.Concat, b.f(2, 3), b.f(2, 5), b.f(3, 3)),
			want: "Concat: xs[2]: shape (3, 3), want (2, 3) except the axis that is joined"},
		{call: call(two(graph.Embedding), b.f(3), b.ids(2)), want: "Embedding: weight: shape (3), want (V, E)"},
		{call: call(entropy, b.f(), b.ids()), want: "CrossEntropy: logits: shape (), want (…, V)"},
		{call: call(entropy, b.f(2, 3), b.ids(3)), want: "CrossEntropy: targets: shape (3), want (2)"},
		{call: call(entropy, b.f(3), b.ids(1)), want: "CrossEntropy: targets: shape (1), want ()"},
		{call: call(drop(0.5), b.f(3), b.ids(2)), want: "Dropout: key: shape (2), want ()"},
		{call: call(two(graph.PairwiseAdd), b.f(3), b.f(3)), want: "PairwiseAdd: q: shape (3), want (…, T, A)"},
		{call: call(two(graph.PairwiseAdd), b.f(5, 2, 3), b.f(5, 7, 4)),
			want: "PairwiseAdd: k: shape (5, 7, 4), want (5, S, 3)"},
		{call: call(plain, b.f(3), b.f(3), b.f(3)), want: "Attention: q: shape (3), want (…, T, D)"},
		{call: call(plain, b.f(2, 3), b.f(2, 4), b.f(2, 3)), want: "Attention: k: shape (2, 4), want (S, 3)"},
		{call: call(plain, b.f(5, 2, 3), b.f(7, 3), b.f(7, 3)), want: "Attention: k: shape (7, 3), want (5, S, 3)"},
		{call: call(plain, b.f(5, 2, 3), b.f(5, 7, 3), b.f(5, 2, 3)), want: "Attention: v: shape (5, 2, 3), want (5, 7, Dv)"},
		{call: call(plain, b.f(5, 2, 3), b.f(5, 7, 3), b.f(7, 3)), want: "Attention: v: shape (7, 3), want (5, 7, Dv)"},
		{call: call(causal, b.f(2, 3), b.f(7, 3), b.f(7, 3)),
			want: "Attention: mask: got T=2 and S=7, want T = S or an alignment, upper_left or lower_right"},
		{call: call(additiveBy, b.f(2, 3), b.f(5, 4), b.f(1, 3), b.f(5, 7)),
			want: "PairwiseAdd: k: shape (5, 4), want (S, 3)"},
		{call: call(additiveBy, b.f(2, 3), b.f(5, 3), b.f(3), b.f(5, 7)),
			want: "AdditiveAttention: v: shape (3), want (1, 3)"},
		{call: call(additiveBy, b.f(2, 3), b.f(5, 3), b.f(2, 3), b.f(5, 7)),
			want: "AdditiveAttention: v: shape (2, 3), want (1, 3)"},
		{call: call(additiveBy, b.f(2, 3), b.f(5, 3), b.f(1, 3), b.f(7, 5)),
			want: "AdditiveAttention: value: shape (7, 5), want (5, E)"},
		{call: call(one(graph.Softmax), b.f(0, 3)), want: "Softmax: x: shape (0, 3), want every axis at least 1"},
		{call: call(one(graph.Softmax), G.NewMatrix(b.g, tensor.Float64, G.WithName("bare"))),
			want: "Softmax: x: got a node without a shape, want one with"},
	}
}

func (b bench) refuseNumbers() []refusal {
	var list []refusal
	for _, p := range []float64{-0.1, 1, 1.5, math.NaN(), math.Inf(1), math.Inf(-1)} {
		list = append(list,
			refusal{call: call(drop(p), b.f(3), b.ids()), want: fmt.Sprintf("Dropout: p: got %v, want 0 <= p < 1", p)},
			refusal{call: call(attentionBy(graph.AttentionConfig{Dropout: graph.DropoutConfig{P: p, Key: b.ids()}}),
				b.f(2, 3), b.f(2, 3), b.f(2, 3)),
				want: fmt.Sprintf("Dropout: p: got %v, want 0 <= p < 1", p)})
	}
	for _, c := range []float64{-1, math.NaN(), math.Inf(1)} {
		list = append(list, refusal{call: call(attentionBy(graph.AttentionConfig{Scale: c}), b.f(2, 3), b.f(2, 3), b.f(2, 3)),
			want: fmt.Sprintf("Attention: scale: got %v, want a finite number above 0", c)})
	}
	for _, c := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		list = append(list, refusal{call: call(scale(c), b.f(3)),
			want: fmt.Sprintf("Scale: factor: got %v, want a finite number", c)})
	}
	return list
}

// refuseSizes returns calls whose results do not fit into any memory, or whose axes overflow an int.
func (b bench) refuseSizes() []refusal {
	t5 := func(T, S int) func() (*G.Node, error) {
		c := graph.T5Config{T: T, S: S, Unidirectional: true}
		return func() (*G.Node, error) { return graph.T5RelativeBias(b.f(4, 3), c) }
	}
	repeat := one(func(x *G.Node) (*G.Node, error) { return graph.RepeatHeads(x, 1<<30) })
	const want = "want axes of at least 1 and at most 2147483647 elements"
	return []refusal{
		{call: call(repeat, b.f(2, 3, 5)), want: "RepeatHeads: result: shape (2147483648, 3, 5), " + want},
		{call: t5(2, math.MaxInt), want: "T5RelativeBias: result: shape (3, -9223372036854775808), " + want},
		{call: t5(1, math.MaxInt), want: "T5RelativeBias: result: shape (3, 9223372036854775807), " + want},
		{call: call(two(graph.Scores), b.f(1<<20, 1), b.f(1<<20, 1)),
			want: "Scores: result: shape (1048576, 1048576), " + want},
	}
}

// Every mistake has one error that names the op, the argument, what it got and
// what it wants.
func TestWrongShapesAndNumbersAreRefused(t *testing.T) {
	b := bench{G.NewGraph()}
	for _, c := range slices.Concat(b.refuseShapes(), b.refuseNumbers(), b.refuseSizes()) {
		t.Run(c.want, func(t *testing.T) {
			n, err := c.call()
			require.EqualError(t, err, "graph: "+c.want)
			require.Nil(t, n)
		})
	}
}

func refuseAll(t *testing.T, list []refusal) {
	t.Helper()
	for _, c := range list {
		t.Run(c.want, func(t *testing.T) {
			n, err := c.call()
			require.EqualError(t, err, "graph: "+c.want)
			require.Nil(t, n)
		})
	}
}
