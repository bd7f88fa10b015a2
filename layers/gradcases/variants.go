package gradcases

import (
	"attention/graph"
	"attention/graph/gradcases"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

func selfAttentions() []Case {
	newSimple := func(layers.Scope, struct{}) (layers.SimpleSelfAttention, error) {
		return layers.SimpleSelfAttention{}, nil
	}
	simple, simpleWeights := ofX(newSimple, struct{}{}), weighing(newSimple, struct{}{})
	c1 := layers.SelfAttentionV1Config{In: 5, Out: 7}
	v1, v1Weights := ofX(layers.NewSelfAttentionV1, c1), weighing(layers.NewSelfAttentionV1, c1)
	c2 := layers.SelfAttentionV2Config{In: 5, Out: 7, QKVBias: true}
	v2 := ofX(layers.NewSelfAttentionV2, layers.SelfAttentionV2Config{In: 5, Out: 7})
	bias, biasWeights := ofX(layers.NewSelfAttentionV2, c2), weighing(layers.NewSelfAttentionV2, c2)
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

// causals returns three cases of each setting, and one of a single token.
func causals() []Case {
	of := func(about string, change func(c *layers.CausalAttentionConfig)) []Case {
		c := layers.CausalAttentionConfig{In: 5, Out: 7, ContextLength: 11}
		change(&c)
		forward, weights := ofX(layers.NewCausalAttention, c), weighing(layers.NewCausalAttention, c)
		return []Case{
			{Layer: "CausalAttention", About: "(T, In)" + about, Mode: layers.Train, New: forward, Inputs: x(3, 5)},
			{Layer: "CausalAttention", About: "(B, T, In)" + about, Mode: layers.Train, New: forward, Inputs: x(2, 3, 5)},
			{Layer: "CausalAttention", About: "(B, T, In)" + about + ", with weights", Mode: layers.Train, New: weights,
				Inputs: x(2, 3, 5)},
		}
	}
	cases := of("", func(*layers.CausalAttentionConfig) {})
	cases = append(cases, of(", bias", func(c *layers.CausalAttentionConfig) { c.QKVBias = true })...)
	cases = append(cases, of(", renormalized", func(c *layers.CausalAttentionConfig) { c.Renormalize = true })...)
	cases = append(cases, of(", dropout", func(c *layers.CausalAttentionConfig) { c.Dropout, c.ContextDropout = 0.5, 0.25 })...)
	bias := ofX(layers.NewCausalAttention, layers.CausalAttentionConfig{In: 5, Out: 7, ContextLength: 11, QKVBias: true})
	return append(cases, Case{Layer: "CausalAttention", About: "T=1", New: bias, Inputs: x(2, 1, 5)})
}

// multiHeads returns three cases of each setting, and one of a single token.
func multiHeads() []Case {
	of := func(about string, change func(c *layers.MultiHeadAttentionConfig)) []Case {
		c := layers.MultiHeadAttentionConfig{In: 7, Out: 10, NumHeads: 2}
		change(&c)
		forward, weights := ofX(layers.NewMultiHeadAttention, c), weighing(layers.NewMultiHeadAttention, c)
		return []Case{
			{Layer: "MultiHeadAttention", About: "(T, In)" + about, Mode: layers.Train, New: forward, Inputs: x(3, 7)},
			{Layer: "MultiHeadAttention", About: "(B, T, In)" + about, Mode: layers.Train, New: forward, Inputs: x(2, 3, 7)},
			{Layer: "MultiHeadAttention", About: "(B, T, In)" + about + ", with weights", Mode: layers.Train, New: weights,
				Inputs: x(2, 3, 7)},
		}
	}
	cases := of("", func(*layers.MultiHeadAttentionConfig) {})
	cases = append(cases, of(", one head", func(c *layers.MultiHeadAttentionConfig) { c.NumHeads = 1 })...)
	cases = append(cases, of(", bias", func(c *layers.MultiHeadAttentionConfig) { c.QKVBias = true })...)
	cases = append(cases, of(", renormalized", func(c *layers.MultiHeadAttentionConfig) { c.Renormalize = true })...)
	cases = append(cases, of(", dropout", func(c *layers.MultiHeadAttentionConfig) { c.Dropout, c.ContextDropout = 0.5, 0.25 })...)
	bias := ofX(layers.NewMultiHeadAttention, layers.MultiHeadAttentionConfig{In: 7, Out: 10, NumHeads: 2, QKVBias: true})
	return append(cases, Case{Layer: "MultiHeadAttention", About: "T=1", New: bias, Inputs: x(2, 1, 7)})
}

func wrappers() []Case {
	const name = "MultiHeadAttentionWrapper"
	c2 := layers.MultiHeadAttentionWrapperConfig{Head: layers.CausalAttentionConfig{In: 7, Out: 5}, NumHeads: 2}
	c3 := layers.MultiHeadAttentionWrapperConfig{NumHeads: 3,
		Head: layers.CausalAttentionConfig{In: 7, Out: 5, QKVBias: true, Dropout: 0.5}}
	two := ofX(layers.NewMultiHeadAttentionWrapper, c2)
	three, weights := ofX(layers.NewMultiHeadAttentionWrapper, c3), weighing(layers.NewMultiHeadAttentionWrapper, c3)
	joined := func(l *layers.MultiHeadAttentionWrapper, b *layers.Build, in G.Nodes) (*G.Node, error) {
		out, weights, err := l.ForwardWithWeights(b, in[0])
		if err != nil {
			return nil, err
		}
		if out, err = graph.SplitHeads(out, c2.NumHeads); err != nil {
			return nil, err
		}
		return graph.Concat(out, weights)
	}
	return []Case{
		{Layer: name, About: "(T, In)", New: two, Inputs: x(3, 7)},
		{Layer: name, About: "(B, T, In)", New: two, Inputs: x(2, 3, 7)},
		{Layer: name, About: "three heads, bias, dropout", Mode: layers.Train, New: three, Inputs: x(2, 3, 7)},
		{Layer: name, About: "three heads, bias, dropout, with weights", Mode: layers.Train, New: weights, Inputs: x(2, 3, 7)},
		{Layer: name, About: "its weights", New: made(layers.NewMultiHeadAttentionWrapper, c2, joined), Inputs: x(2, 3, 7),
			Reason: "the values have no part in the weights, so the context vectors are joined to them"},
	}
}

func additives() []Case {
	c := layers.AdditiveAttentionConfig{Query: 7, Key: 5, Attn: 11}
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
