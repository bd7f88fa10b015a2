package graph_test

import (
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// BenchmarkOps times each op that a model spends its time in, at the sizes of GPT-2 small and of a tiny model: forward,
// and backward including the forward results that it needs.
//
//	go test ./graph -run '^$' -bench 'Ops/gpt2/Softmax'
func BenchmarkOps(b *testing.B) {
	for _, size := range []benchSize{
		{name: "gpt2", batch: 2, tokens: 1024, width: 768, heads: 12, vocabulary: 4096},
		{name: "tiny", batch: 32, tokens: 32, width: 64, heads: 4, vocabulary: 96},
	} {
		for _, c := range hotOps(size) {
			b.Run(size.name+"/"+c.name+"/forward", func(b *testing.B) { benchmarkOp(b, c, false) })
			b.Run(size.name+"/"+c.name+"/backward", func(b *testing.B) { benchmarkOp(b, c, true) })
		}
	}
}

type benchSize struct {
	name                                    string
	batch, tokens, width, heads, vocabulary int
}

// hotOps returns cases without a reference, named after the functions.
func hotOps(z benchSize) []opCase {
	d := z.width / z.heads
	tokens := s{z.batch, z.tokens, z.width}
	head := s{z.batch, z.heads, z.tokens, d}
	scored := s{z.batch, z.heads, z.tokens, z.tokens}
	causal := graph.AttentionConfig{Heads: z.heads, Mask: mask.Causal{}}
	fused := func(in G.Nodes) (*G.Node, error) { return fusedAttention(in[0], in[1], in[2], causal) }
	split := func(x *G.Node) (*G.Node, error) { return graph.SplitHeads(x, z.heads) }
	half := func(x *G.Node) (*G.Node, error) { return graph.Scale(x, 0.5) }
	return []opCase{
		{name: "FusedAttention", op: fused, in: shapes(tokens, tokens, tokens)},
		{name: "Attention", op: attention(causal), in: shapes(tokens, tokens, tokens)},
		{name: "Linear", op: linear, in: shapes(tokens, s{z.width, z.width}, s{z.width})},
		{name: "Scores", op: scores, in: shapes(head, head)},
		{name: "MatMul", op: matMul, in: shapes(scored, head)},
		{name: "MaskFill", op: unary(fillBy(mask.Causal{})), in: shapes(scored)},
		{name: "Scale", op: unary(half), in: shapes(scored)},
		{name: "Softmax", op: unary(graph.Softmax), in: shapes(scored)},
		{name: "Tril", op: unary(graph.Tril), in: shapes(scored)},
		{name: "DivideBySum", op: unary(graph.DivideBySum), in: shapes(scored)},
		{name: "Dropout", op: dropout(0.1, 1), in: then(shapes(scored), key(123))},
		{name: "SplitHeads", op: unary(split), in: shapes(tokens)},
		{name: "MergeHeads", op: unary(graph.MergeHeads), in: shapes(head)},
		{name: "Add", op: add, in: shapes(tokens, s{z.width})},
		{name: "Mul", op: mul, in: shapes(tokens, tokens)},
		{name: "Exp", op: unary(graph.Exp), in: shapes(tokens)},
		{name: "Tanh", op: unary(graph.Tanh), in: shapes(tokens)},
		{name: "Concat", op: func(in G.Nodes) (*G.Node, error) { return graph.Concat(in...) },
			in: shapes(tokens, tokens)},
		{name: "Embedding", op: func(in G.Nodes) (*G.Node, error) { return graph.Embedding(in[0], in[1]) },
			in: then(shapes(s{z.vocabulary, z.width}), words(z))},
		{name: "CrossEntropy", op: crossEntropyBy(graph.CrossEntropyConfig{}),
			in: then(shapes(s{z.batch, z.tokens, z.vocabulary}), words(z))},
	}
}

// words returns ids from the whole vocabulary.
func words(z benchSize) input {
	v := make([]float64, z.batch*z.tokens)
	for i := range v {
		v[i] = float64(i * 7919 % z.vocabulary)
	}
	return ids(v, z.batch, z.tokens)
}

func benchmarkOp(b *testing.B, c opCase, backward bool) {
	r := rand.New(rand.NewPCG(1, 2))
	in := c.in(r)
	e := express(b, c.op, in, tensor.Float32)
	wanted := G.Nodes{e.out}
	if backward {
		e.differentiate(b, in, normal(r, e.out.Shape()...), tensor.Float32)
		wanted = e.grads
	}
	m, err := machine.New(wanted...)
	require.NoError(b, err)
	defer m.Close()
	require.NoError(b, m.RunAll())
	b.ReportAllocs()
	for b.Loop() {
		if err := m.RunAll(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMasks times attention under masks of every kind, most of whose work is to find which keys a query sees.
func BenchmarkMasks(b *testing.B) {
	const batch, tokens, width, heads = 2, 512, 128, 4
	documents, keep, lengths := make([]float64, batch*tokens), make([]float64, tokens*tokens), []float64{tokens,
		tokens / 2}
	for i := range documents {
		documents[i] = float64(i % tokens / 100)
	}
	for i := range keep {
		keep[i] = float64(min(i*7919%5, 1))
	}
	segments := func(g *G.ExprGraph) mask.Mask {
		return mask.Segments{Query: node(g, "documents", of(documents, batch, tokens), tensor.Int)}
	}
	for _, c := range []struct {
		name string
		mask masking
	}{
		{name: "all", mask: is(nil)},
		{name: "causal", mask: is(mask.Causal{})},
		{name: "window", mask: is(mask.SlidingWindow{Left: 63})},
		{name: "window or prefix", mask: is(mask.And(mask.Causal{},
			mask.Or(mask.SlidingWindow{Left: 63}, mask.Prefix{N: 4})))},
		{name: "lengths", mask: keys(ids(lengths, batch))},
		{name: "segments", mask: segments},
		{name: "causal segments", mask: func(g *G.ExprGraph) mask.Mask { return mask.And(mask.Causal{}, segments(g)) }},
		{name: "keep", mask: keeping(of(keep, tokens, tokens))},
		{name: "causal not keep", mask: func(g *G.ExprGraph) mask.Mask {
			return mask.And(mask.Causal{}, mask.Not(keeping(of(keep, tokens, tokens))(g)))
		}},
	} {
		x := s{batch, tokens, width}
		op := opCase{op: func(in G.Nodes) (*G.Node, error) {
			return fusedAttention(in[0], in[1], in[2],
				graph.AttentionConfig{Heads: heads, Mask: c.mask(in[0].Graph())})
		}, in: shapes(x, x, x)}
		b.Run("FusedAttention/"+c.name+"/forward", func(b *testing.B) { benchmarkOp(b, op, false) })
		b.Run("FusedAttention/"+c.name+"/backward", func(b *testing.B) { benchmarkOp(b, op, true) })
		fill := opCase{op: func(in G.Nodes) (*G.Node, error) { return graph.MaskFill(in[0], c.mask(in[0].Graph())) },
			in: shapes(s{batch, heads, tokens, tokens})}
		if c.name != "all" {
			b.Run("MaskFill/"+c.name, func(b *testing.B) { benchmarkOp(b, fill, false) })
		}
	}
}
