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
	return slices.Concat(productCases(), elementCases(), attentionCases(), layerNormCases(), rootNormCases(),
		activationCases(), swiGLUCases(), splitCases(), transposeCases(), averageHeadsCases())
}

type s = []int

func linear(in G.Nodes) (*G.Node, error) {
	if len(in) == 2 {
		return graph.Linear(in[0], in[1], nil)
	}
	return graph.Linear(in[0], in[1], in[2])
}

func matMul(in G.Nodes) (*G.Node, error) { return graph.MatMul(in[0], in[1]) }
func scores(in G.Nodes) (*G.Node, error) { return graph.Scores(in[0], in[1]) }
func add(in G.Nodes) (*G.Node, error)    { return graph.Add(in[0], in[1]) }

func productCases() []opCase {
	product := func(in []array) array { return naiveMatMul(in[0], in[1]) }
	withTransposed := func(in []array) array { return naiveMatMul(in[0], naiveTranspose(in[1])) }
	return []opCase{
		{"linear", linear, naiveLinear, shapes(s{2, 3, 5}, s{7, 5}, s{7})},
		{"linear_no_bias", linear, naiveLinear, shapes(s{3, 5}, s{7, 5})},
		{"linear_vector", linear, naiveLinear, shapes(s{5}, s{7, 5}, s{7})},
		{"linear_ones", linear, naiveLinear, shapes(s{1, 1}, s{1, 1}, s{1})},
		{"matmul", matMul, product, shapes(s{7, 3}, s{3, 5})},
		{"matmul_rows", matMul, product, shapes(s{2, 7, 3}, s{3, 5})},
		{"matmul_batch", matMul, product, shapes(s{2, 5, 7, 3}, s{2, 5, 3, 11})},
		{"matmul_vector", matMul, func(in []array) array {
			y := naiveMatMul(of(in[0].v, 1, 3), in[1])
			return of(y.v)
		}, shapes(s{3}, s{3, 5})},
		{"scores", scores, withTransposed, shapes(s{2, 3, 5, 7}, s{2, 3, 11, 7})},
		{"scores_one", scores, withTransposed, shapes(s{5, 7}, s{11, 7})},
		{"scores_single", scores, withTransposed, shapes(s{3, 1, 1}, s{3, 1, 1})},
	}
}

// each is naiveEach as the oracle of an op.
func each(f func(x, y float64) float64) func(in []array) array {
	return func(in []array) array { return naiveEach(in[0], in[len(in)-1], f) }
}

func unary(op func(x *G.Node) (*G.Node, error)) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) { return op(in[0]) }
}

func elementCases() []opCase {
	plus := each(func(x, y float64) float64 { return x + y })
	half := input{array: of([]float64{1, 0, 0, 1, 1, 0}, 2, 3), fixed: true}
	return []opCase{
		{"add", add, plus, shapes(s{3, 5}, s{3, 5})},
		{"add_bias", add, plus, shapes(s{2, 3, 5}, s{5})},
		{"add_positions", add, plus, shapes(s{2, 3, 5}, s{3, 5})},
		{"add_scalar", add, plus, shapes(s{2, 3}, nil)},
		{"add_scalars", add, plus, shapes(nil, nil)},
		{"mul", func(in G.Nodes) (*G.Node, error) { return graph.Mul(in[0], in[1]) },
			each(func(x, y float64) float64 { return x * y }), shapes(s{2, 3, 5}, s{2, 3, 5})},
		{"scale", unary(func(x *G.Node) (*G.Node, error) { return graph.Scale(x, 0.3) }),
			each(func(x, _ float64) float64 { return 0.3 * x }), shapes(s{2, 3, 5})},
		{"exp", unary(graph.Exp), each(func(x, _ float64) float64 { return math.Exp(x) }), shapes(s{2, 3, 5})},
		{"tanh", unary(graph.Tanh), each(func(x, _ float64) float64 { return math.Tanh(x) }), shapes(s{2, 3, 5})},
		{"tanh_scalar", unary(graph.Tanh), each(func(x, _ float64) float64 { return math.Tanh(x) }), shapes(nil)},
		{"concat", func(in G.Nodes) (*G.Node, error) { return graph.Concat(in...) }, naiveConcat,
			shapes(s{2, 3, 5}, s{2, 3, 1}, s{2, 3, 7})},
		{"concat_one", func(in G.Nodes) (*G.Node, error) { return graph.Concat(in...) }, naiveConcat, shapes(s{3})},
		{"split_heads", unary(func(x *G.Node) (*G.Node, error) { return graph.SplitHeads(x, 3) }),
			func(in []array) array { return naiveSplitHeads(in[0], 3) }, shapes(s{2, 5, 21})},
		{"split_one_head", unary(func(x *G.Node) (*G.Node, error) { return graph.SplitHeads(x, 1) }),
			func(in []array) array { return naiveSplitHeads(in[0], 1) }, shapes(s{2, 5, 3})},
		{"split_width_one", unary(func(x *G.Node) (*G.Node, error) { return graph.SplitHeads(x, 3) }),
			func(in []array) array { return naiveSplitHeads(in[0], 3) }, shapes(s{5, 3})},
		{"repeat_heads", unary(func(x *G.Node) (*G.Node, error) { return graph.RepeatHeads(x, 3) }),
			func(in []array) array { return naiveRepeatHeads(in[0], 3) }, shapes(s{2, 2, 5, 7})},
		{"merge_one_head", unary(graph.MergeHeads),
			func(in []array) array { return naiveMergeHeads(in[0]) }, shapes(s{1, 5, 7})},
		{"merge_heads", unary(graph.MergeHeads),
			func(in []array) array { return naiveMergeHeads(in[0]) }, shapes(s{2, 3, 5, 7})},
		{"dropout", dropout(0.3, 5), nil, then(shapes(s{2, 3, 5}), key(-12345))},
		{"dropout_mask", func(in G.Nodes) (*G.Node, error) { return graph.DropoutMask(in[0], in[1], 0.3) },
			each(func(x, keep float64) float64 { return x * keep / 0.7 }), then(shapes(s{2, 3}), half)},
		{"observe", unary(func(x *G.Node) (*G.Node, error) {
			o, err := graph.Observe(x)
			return o.Node(), err
		}), each(func(x, _ float64) float64 { return x }), shapes(s{2, 3, 5})},
	}
}

func dropout(p float64, site int) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) {
		return graph.Dropout(in[0], graph.DropoutConfig{P: p, Key: in[1], Site: site})
	}
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
		{"softmax", unary(graph.Softmax), func(in []array) array { return naiveSoftmax(in[0]) }, shapes(s{2, 3, 5})},
		{"softmax_vector", unary(graph.Softmax), func(in []array) array { return naiveSoftmax(in[0]) }, shapes(s{7})},
		{"normalize", unary(graph.DivideBySum), func(in []array) array { return naiveNormalize(in[0]) }, shapes(s{2, 3, 5})},
		{"causal_fill", unary(graph.CausalFill), func(in []array) array { return naiveTriangle(in[0], inf) }, shapes(s{2, 5, 5})},
		{"tril", unary(graph.Tril), func(in []array) array { return naiveTriangle(in[0], 0) }, shapes(s{2, 3, 5, 5})},
		{"embedding", func(in G.Nodes) (*G.Node, error) { return graph.Embedding(in[0], in[1]) },
			func(in []array) array { return naiveEmbedding(in[0], in[1]) },
			then(shapes(s{7, 5}), ids([]float64{3, 0, 6, 3, 3, 1}, 2, 3))},
		{"embedding_one", func(in G.Nodes) (*G.Node, error) { return graph.Embedding(in[0], in[1]) },
			func(in []array) array { return naiveEmbedding(in[0], in[1]) }, then(shapes(s{7, 5}), key(6))},
		{"cross_entropy", func(in G.Nodes) (*G.Node, error) { return graph.CrossEntropy(in[0], in[1]) },
			func(in []array) array { return naiveCrossEntropy(in[0], in[1]) },
			then(shapes(s{2, 3, 7}), ids([]float64{6, 0, -100, 1, -100, 1}, 2, 3))},
		{"cross_entropy_one", func(in G.Nodes) (*G.Node, error) { return graph.CrossEntropy(in[0], in[1]) },
			func(in []array) array { return naiveCrossEntropy(in[0], in[1]) }, then(shapes(s{7}), key(2))},
		{"mse", func(in G.Nodes) (*G.Node, error) { return graph.MSE(in[0], in[1]) },
			func(in []array) array { return naiveMSE(in[0], in[1]) }, shapes(s{2, 3, 7}, s{2, 3, 7})},
		{"mse_scalars", func(in G.Nodes) (*G.Node, error) { return graph.MSE(in[0], in[1]) },
			func(in []array) array { return naiveMSE(in[0], in[1]) }, shapes(nil, nil)},
		{"pairwise_add", func(in G.Nodes) (*G.Node, error) { return graph.PairwiseAdd(in[0], in[1]) },
			func(in []array) array { return naivePairwiseAdd(in[0], in[1]) }, shapes(s{2, 3, 7}, s{2, 5, 7})},
		{"additive", func(in G.Nodes) (*G.Node, error) {
			return context(graph.AdditiveAttention(in[0], in[1], in[2], in[3]))
		}, func(in []array) array { return naiveAdditive(in[0], in[1], in[2], in[3]) },
			shapes(s{2, 3, 7}, s{2, 5, 7}, s{1, 7}, s{2, 5, 11})},
		{"additive_ones", func(in G.Nodes) (*G.Node, error) {
			return context(graph.AdditiveAttention(in[0], in[1], in[2], in[3]))
		}, func(in []array) array { return in[3] }, shapes(s{1, 1}, s{1, 1}, s{1, 1}, s{1, 1})},
		{"attention", attention(graph.AttentionConfig{}), attending(0, all), shapes(s{2, 3, 5}, s{2, 7, 5}, s{2, 7, 11})},
		{"attention_scale", attention(graph.AttentionConfig{Scale: 0.3}), attending(0.3, all), shapes(s{3, 5}, s{7, 5}, s{7, 11})},
		{"attention_causal", attention(graph.AttentionConfig{Mask: mask.Causal{}}), attending(0, causal),
			shapes(s{2, 3, 7, 5}, s{2, 3, 7, 5}, s{2, 3, 7, 11})},
		{"attention_renormalized", attention(graph.AttentionConfig{Mask: mask.Causal{}, Renormalize: true}), attending(0, causal),
			shapes(s{2, 7, 5}, s{2, 7, 5}, s{2, 7, 11})},
		{"fused", fusedBy(graph.AttentionConfig{}), attending(0, all), shapes(s{2, 3, 5}, s{2, 7, 5}, s{2, 7, 11})},
		{"fused_causal", fusedBy(graph.AttentionConfig{Mask: mask.Causal{}}), attending(0, causal),
			shapes(s{2, 3, 7, 5}, s{2, 3, 7, 5}, s{2, 3, 7, 11})},
		{"fused_heads", fusedBy(graph.AttentionConfig{Heads: 3, Mask: mask.Causal{}, Renormalize: true}), nil,
			shapes(s{2, 7, 15}, s{2, 7, 15}, s{2, 7, 6})},
		{"fused_dropout", fusedBy(graph.AttentionConfig{Dropout: graph.DropoutConfig{P: 0.3, Site: 2}}), nil,
			then(shapes(s{2, 3, 5}, s{2, 7, 5}, s{2, 7, 11}), key(-5))},
	}
}
