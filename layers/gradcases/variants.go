package gradcases

import (
	"slices"

	"attention/graph"
	"attention/graph/gradcases"
	"attention/layers"
	"attention/layers/chapter"

	G "gorgonia.org/gorgonia"
)

func selfAttentions() []Case {
	simple := func(layers.Scope) (Forward, error) {
		return func(b *layers.Build, in G.Nodes) (*G.Node, error) {
			return chapter.SimpleSelfAttention{}.Forward(b, in[0])
		}, nil
	}
	v1, v2, biased := chapter.SelfV1(5, 7), chapter.SelfV2(5, 7), chapter.SelfV2(5, 7)
	biased.QKVBias = true
	simpleBatch := Case{Layer: "SimpleSelfAttention", About: "(B, T, In)", New: simple, Inputs: x(2, 3, 5)}
	v1Batch := Case{Layer: "SelfAttentionV1", About: "(B, T, In)", New: ofX(layers.NewAttention, v1), Inputs: x(2, 3, 5)}
	biasBatch := Case{Layer: "SelfAttentionV2", About: "(B, T, In), bias", New: ofX(layers.NewAttention, biased),
		Inputs: x(2, 3, 5)}
	return []Case{
		{Layer: "SimpleSelfAttention", About: "(T, In)", New: simple, Inputs: x(3, 5)},
		simpleBatch,
		simpleBatch.observed(),
		{Layer: "SelfAttentionV1", About: "(T, In)", New: ofX(layers.NewAttention, v1), Inputs: x(3, 5)},
		v1Batch,
		v1Batch.observed(),
		{Layer: "SelfAttentionV2", About: "(T, In)", New: ofX(layers.NewAttention, v2), Inputs: x(3, 5)},
		{Layer: "SelfAttentionV2", About: "(T, In), bias", New: ofX(layers.NewAttention, biased), Inputs: x(3, 5)},
		{Layer: "SelfAttentionV2", About: "(B, T, In)", New: ofX(layers.NewAttention, v2), Inputs: x(2, 3, 5)},
		biasBatch,
		biasBatch.observed(),
	}
}

func causals() []Case {
	plain := chapter.Causal(5, 7)
	plain.ContextLength = 11
	return ofPreset("CausalAttention", plain)
}

func multiHeads() []Case {
	return ofPreset("MultiHeadAttention", chapter.MultiHead(7, 10, 2),
		setting{about: ", one head", config: chapter.MultiHead(7, 10, 1)})
}

// setting is a preset with some of its options.
type setting struct {
	about  string
	config layers.AttentionConfig
}

// ofPreset returns three cases of each setting of a preset, by its name in the chapter, and one
// of a single token.
func ofPreset(layer string, plain layers.AttentionConfig, more ...setting) []Case {
	bias, dropout := plain, plain
	bias.QKVBias = true
	dropout.Dropout, dropout.ContextDropout = 0.5, 0.25
	var cases []Case
	for _, s := range slices.Concat([]setting{{about: "", config: plain}}, more, []setting{
		{about: ", bias", config: bias},
		{about: ", dropout", config: dropout},
	}) {
		one := Case{Layer: layer, About: "(T, In)" + s.about, Mode: layers.Train, New: ofX(layers.NewAttention, s.config),
			Inputs: x(3, plain.EmbedDim)}
		batch := one
		batch.About, batch.Inputs = "(B, T, In)"+s.about, x(2, 3, plain.EmbedDim)
		cases = append(cases, one, batch, batch.observed())
	}
	single := Case{Layer: layer, About: "T=1", New: ofX(layers.NewAttention, bias), Inputs: x(2, 1, plain.EmbedDim)}
	return append(cases, single)
}

func wrappers() []Case {
	const name = "MultiHeadAttentionWrapper"
	c2, c3 := chapter.MultiHeadWrapper(7, 5, 2), chapter.MultiHeadWrapper(7, 5, 3)
	c3.QKVBias, c3.Dropout = true, 0.5
	three := Case{Layer: name, About: "three heads, bias, dropout", Mode: layers.Train,
		New: ofX(layers.NewAttention, c3), Inputs: x(2, 3, 7)}
	joined := func(l *layers.Attention, b *layers.Build, in G.Nodes) (*G.Node, error) {
		out := b.Of(graph.SplitHeads(b.Of(l.Forward(b, in[0])), c2.NumHeads))
		out = b.Of(graph.Concat(out, b.Of(l.Weights(b, layers.AttentionInput{Query: in[0]}))))
		return out, b.Err()
	}
	return []Case{
		{Layer: name, About: "(T, In)", New: ofX(layers.NewAttention, c2), Inputs: x(3, 7)},
		{Layer: name, About: "(B, T, In)", New: ofX(layers.NewAttention, c2), Inputs: x(2, 3, 7)},
		three,
		three.observed(),
		{Layer: name, About: "its weights", New: made(layers.NewAttention, c2, joined), Inputs: x(2, 3, 7),
			Reason: "the values have no part in the weights, so the context vectors are joined to them"},
	}
}

func additives() []Case {
	const name = "AdditiveAttention"
	c := layers.AdditiveAttentionConfig{QueryDim: 7, KeyDim: 5, AttnDim: 11}
	additive := made(layers.NewAdditiveAttention, c,
		func(l *layers.AdditiveAttention, b *layers.Build, in G.Nodes) (*G.Node, error) {
			return l.Forward(b, in[0], in[1])
		})
	inputs := func(query, key []int) []gradcases.Input {
		return []gradcases.Input{gradcases.Float("query", query...), gradcases.Float("key", key...)}
	}
	return []Case{
		{Layer: name, About: "(T, Query), (S, Key)", New: additive, Inputs: inputs([]int{2, 7}, []int{3, 5})},
		{Layer: name, About: "(B, T, Query), (B, S, Key)", New: additive, Inputs: inputs([]int{2, 5, 7}, []int{2, 3, 5})},
		{Layer: name, About: "T=1", New: additive, Inputs: inputs([]int{1, 7}, []int{3, 5})},
	}
}
