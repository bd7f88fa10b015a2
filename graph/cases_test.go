package graph_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

// opCase is one op of the package with inputs whose sizes are different primes.
// Names that testdata/torch/ops.py and norms.py have too stand for the same op there.
type opCase struct {
	name string
	op   func(in G.Nodes) (*G.Node, error)
	want func(in []array) array // the same by plain loops; nil where another test has it
	in   func(r *rand.Rand) []input
}

// of shapes: inputs of normally distributed numbers.
func shapes(shapes ...[]int) func(r *rand.Rand) []input {
	return func(r *rand.Rand) []input {
		var in []array
		for _, s := range shapes {
			in = append(in, normal(r, s...))
		}
		return floats(in...)
	}
}

// then adds an input of whole numbers, or of a mask.
func then(first func(r *rand.Rand) []input, last input) func(r *rand.Rand) []input {
	return func(r *rand.Rand) []input { return append(first(r), last) }
}

func ids(v []float64, shape ...int) input { return input{array: of(v, shape...), integer: true} }

// key is the scalar that dropout draws from.
func key(v float64) input { return input{array: array{nil, []float64{v}}, integer: true} }

func opCases() []opCase {
	return slices.Concat(matMulCases(), addCases(), mulCases(), elementwiseCases(), swiGLUCases(), dropoutCases(),
		concatCases(), splitCases(), transposeCases(), headsCases(), repeatHeadsCases(), averageHeadsCases(),
		softmaxCases(), divideBySumCases(), layerNormCases(), rootNormCases(), embeddingCases(), crossEntropyCases(), mseCases(),
		additiveCases(), attentionCases())
}

type s = []int

// each is naiveEach as the oracle of an op.
func each(f func(x, y float64) float64) func(in []array) array {
	return func(in []array) array { return naiveEach(in[0], in[len(in)-1], f) }
}

func unary(op func(x *G.Node) (*G.Node, error)) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) { return op(in[0]) }
}

func context(out, _ *G.Node, err error) (*G.Node, error) { return out, err }

func attention(c graph.AttentionConfig) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) { return context(graph.Attention(in[0], in[1], in[2], c)) }
}

// attending is naiveAttention as an oracle; scale 0 stands for 1/√D.
func attending(scale float64, sees func(t, s int) bool) func(in []array) array {
	return func(in []array) array {
		c := scale
		if c == 0 {
			c = rootScale(in[0])
		}
		out, _ := naiveAttention(in[0], in[1], in[2], c, sees)
		return out
	}
}

func attentionCases() []opCase {
	inf := math.Inf(-1)
	return []opCase{
		{name: "causal_fill", op: unary(fillBy(mask.Causal{})),
			want: func(in []array) array { return naiveTriangle(in[0], inf) }, in: shapes(s{2, 5, 5})},
		{name: "tril", op: unary(graph.Tril), want: func(in []array) array { return naiveTriangle(in[0], 0) },
			in: shapes(s{2, 3, 5, 5})},
		{name: "attention", op: attention(graph.AttentionConfig{}), want: attending(0, all),
			in: shapes(s{2, 3, 5}, s{2, 7, 5}, s{2, 7, 11})},
		{name: "attention_scale", op: attention(graph.AttentionConfig{Scale: 0.3}), want: attending(0.3, all),
			in: shapes(s{3, 5}, s{7, 5}, s{7, 11})},
		{name: "attention_causal", op: attention(graph.AttentionConfig{Mask: mask.Causal{}}), want: attending(0, causal),
			in: shapes(s{2, 3, 7, 5}, s{2, 3, 7, 5}, s{2, 3, 7, 11})},
		{name: "attention_renormalized", op: attention(graph.AttentionConfig{Mask: mask.Causal{}, Renormalize: true}),
			want: attending(0, causal),
			in:   shapes(s{2, 7, 5}, s{2, 7, 5}, s{2, 7, 11})},
		{name: "fused", op: fusedBy(graph.AttentionConfig{}), want: attending(0, all),
			in: shapes(s{2, 3, 5}, s{2, 7, 5}, s{2, 7, 11})},
		{name: "fused_causal", op: fusedBy(graph.AttentionConfig{Mask: mask.Causal{}}), want: attending(0, causal),
			in: shapes(s{2, 3, 7, 5}, s{2, 3, 7, 5}, s{2, 3, 7, 11})},
		{name: "fused_heads", op: fusedBy(graph.AttentionConfig{Heads: 3, Mask: mask.Causal{}, Renormalize: true}),
			in: shapes(s{2, 7, 15}, s{2, 7, 15}, s{2, 7, 6})},
		{name: "fused_dropout", op: fusedBy(graph.AttentionConfig{Dropout: graph.DropoutConfig{P: 0.3, Site: 2}}),
			in: then(shapes(s{2, 3, 5}, s{2, 7, 5}, s{2, 7, 11}), key(-5))},
	}
}
