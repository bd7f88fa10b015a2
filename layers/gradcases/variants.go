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
	newSimple := func(layers.Scope, struct{}) (chapter.SimpleSelfAttention, error) {
		return chapter.SimpleSelfAttention{}, nil
	}
	simple, simpleWeights := ofX(newSimple, struct{}{}), weighing(newSimple, struct{}{})
	c1 := chapter.SelfV1(5, 7)
	v1, v1Weights := ofX(layers.NewAttention, c1), weighing(layers.NewAttention, c1)
	c2 := chapter.SelfV2(5, 7)
	v2 := ofX(layers.NewAttention, c2)
	c2.QKVBias = true
	bias, biasWeights := ofX(layers.NewAttention, c2), weighing(layers.NewAttention, c2)
	return []Case{
		{Layer: "SimpleSelfAttention", About: "(T, In)", New: simple, Inputs: x(3, 5)},
		{Layer: "SimpleSelfAttention", About: "(B, T, In)", New: simple, Inputs: x(2, 3, 5)},
		{Layer: "SimpleSelfAttention", About: "(B, T, In), with weights", New: simpleWeights, Inputs: x(2, 3, 5)},
		{Layer: "SelfAttentionV1", About: "(T, In)", New: v1, Inputs: x(3, 5)},
		{Layer: "SelfAttentionV1", About: "(B, T, In)", New: v1, Inputs: x(2, 3, 5)},
		{Layer: "SelfAttentionV1", About: "(B, T, In), with weights", New: v1Weights, Inputs: x(2, 3, 5)},
		{Layer: "SelfAttentionV2", About: "(T, In)", New: v2, Inputs: x(3, 5)},
		{Layer: "SelfAttentionV2", About: "(T, In), bias", New: bias, Inputs: x(3, 5)},
		{Layer: "SelfAttentionV2", About: "(B, T, In)", New: v2, Inputs: x(2, 3, 5)},
		{Layer: "SelfAttentionV2", About: "(B, T, In), bias", New: bias, Inputs: x(2, 3, 5)},
		{Layer: "SelfAttentionV2", About: "(B, T, In), bias, with weights", New: biasWeights, Inputs: x(2, 3, 5)},
	}
}

// ofPreset returns three cases of a preset with a change, by its name in the chapter.
func ofPreset(layer, about string, c layers.AttentionConfig, change func(c *layers.AttentionConfig)) []Case {
	change(&c)
	forward, weights := ofX(layers.NewAttention, c), weighing(layers.NewAttention, c)
	one, batch := x(3, c.EmbedDim), x(2, 3, c.EmbedDim)
	return []Case{
		{Layer: layer, About: "(T, In)" + about, Mode: layers.Train, New: forward, Inputs: one},
		{Layer: layer, About: "(B, T, In)" + about, Mode: layers.Train, New: forward, Inputs: batch},
		{Layer: layer, About: "(B, T, In)" + about + ", with weights", Mode: layers.Train, New: weights, Inputs: batch},
	}
}

// causals returns three cases of each setting, and one of a single token.
func causals() []Case {
	const name = "CausalAttention"
	plain := chapter.Causal(5, 7)
	plain.ContextLength = 11
	biased := plain
	biased.QKVBias = true
	return slices.Concat(
		ofPreset(name, "", plain, func(*layers.AttentionConfig) {}),
		ofPreset(name, ", bias", biased, func(*layers.AttentionConfig) {}),
		ofPreset(name, ", renormalized", plain, func(c *layers.AttentionConfig) { c.Renormalize = true }),
		ofPreset(name, ", dropout", plain, func(c *layers.AttentionConfig) { c.Dropout, c.ContextDropout = 0.5, 0.25 }),
		[]Case{{Layer: name, About: "T=1", New: ofX(layers.NewAttention, biased), Inputs: x(2, 1, 5)}})
}

// multiHeads returns three cases of each setting, and one of a single token.
func multiHeads() []Case {
	const name = "MultiHeadAttention"
	plain := chapter.MultiHead(7, 10, 2)
	biased := plain
	biased.QKVBias = true
	return slices.Concat(
		ofPreset(name, "", plain, func(*layers.AttentionConfig) {}),
		ofPreset(name, ", one head", plain, func(c *layers.AttentionConfig) { c.NumHeads = 1 }),
		ofPreset(name, ", bias", biased, func(*layers.AttentionConfig) {}),
		ofPreset(name, ", renormalized", plain, func(c *layers.AttentionConfig) { c.Renormalize = true }),
		ofPreset(name, ", dropout", plain, func(c *layers.AttentionConfig) { c.Dropout, c.ContextDropout = 0.5, 0.25 }),
		[]Case{{Layer: name, About: "T=1", New: ofX(layers.NewAttention, biased), Inputs: x(2, 1, 7)}})
}

func wrappers() []Case {
	const name = "MultiHeadAttentionWrapper"
	c2, c3 := chapter.MultiHeadWrapper(7, 5, 2), chapter.MultiHeadWrapper(7, 5, 3)
	c3.QKVBias, c3.Dropout = true, 0.5
	two := ofX(layers.NewAttention, c2)
	three, weights := ofX(layers.NewAttention, c3), weighing(layers.NewAttention, c3)
	joined := func(l *layers.Attention, b *layers.Build, in G.Nodes) (*G.Node, error) {
		b.Observe("*")
		out := b.Of(graph.SplitHeads(b.Of(l.Forward(b, in[0])), c2.NumHeads))
		out = b.Of(graph.Concat(out, b.Of(l.Weights(b, layers.AttentionInput{Query: in[0]}))))
		return out, b.Err()
	}
	return []Case{
		{Layer: name, About: "(T, In)", New: two, Inputs: x(3, 7)},
		{Layer: name, About: "(B, T, In)", New: two, Inputs: x(2, 3, 7)},
		{Layer: name, About: "three heads, bias, dropout", Mode: layers.Train, New: three, Inputs: x(2, 3, 7)},
		{Layer: name, About: "three heads, bias, dropout, with weights", Mode: layers.Train, New: weights, Inputs: x(2, 3, 7)},
		{Layer: name, About: "its weights", New: made(layers.NewAttention, c2, joined), Inputs: x(2, 3, 7),
			Reason: "the values have no part in the weights, so the context vectors are joined to them"},
	}
}

func additives() []Case {
	c := layers.AdditiveAttentionConfig{QueryDim: 7, KeyDim: 5, AttnDim: 11}
	additive := made(layers.NewAdditiveAttention, c, func(l *layers.AdditiveAttention, b *layers.Build, in G.Nodes) (*G.Node, error) {
		return l.Forward(b, in[0], in[1])
	})
	inputs := func(query, key []int) []gradcases.Input {
		return []gradcases.Input{gradcases.Float("query", query...), gradcases.Float("key", key...)}
	}
	return []Case{
		{Layer: "AdditiveAttention", About: "(T, Query), (S, Key)", New: additive, Inputs: inputs([]int{2, 7}, []int{3, 5})},
		{Layer: "AdditiveAttention", About: "(B, T, Query), (B, S, Key)", New: additive, Inputs: inputs([]int{2, 5, 7}, []int{2, 3, 5})},
		{Layer: "AdditiveAttention", About: "T=1", New: additive, Inputs: inputs([]int{1, 7}, []int{3, 5})},
	}
}
