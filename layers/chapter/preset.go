package chapter

import (
	"attention/graph/mask"
	"attention/layers"
)

// SelfV2 is self-attention by one head, from tokens of width in to context vectors of width
// out.
func SelfV2(in, out int) layers.AttentionConfig {
	return layers.AttentionConfig{EmbedDim: in, OutDim: out, NumHeads: 1, ContextOnly: true}
}

// SelfV1 is SelfV2 with matrices W_query, W_key and W_value (in, out) instead of linear layers.
func SelfV1(in, out int) layers.AttentionConfig {
	c := SelfV2(in, out)
	c.Layout = layers.Raw
	return c
}

// Causal is SelfV2 in which no token sees a later one.
func Causal(in, out int) layers.AttentionConfig {
	c := SelfV2(in, out)
	c.Mask = mask.Causal{}
	return c
}

// MultiHeadWrapper is Causal with several heads, each with parameters of its own and of width
// out; their context vectors are side by side.
func MultiHeadWrapper(in, out, heads int) layers.AttentionConfig {
	c := Causal(in, 0)
	c.HeadDim, c.NumHeads, c.Layout = out, heads, layers.PerHead
	return c
}

// MultiHead is causal attention by several heads at once, with one matrix for the queries of
// all heads, one for the keys and one for the values, and with an output projection.
func MultiHead(in, out, heads int) layers.AttentionConfig {
	return layers.AttentionConfig{EmbedDim: in, OutDim: out, NumHeads: heads, OutBias: true, Mask: mask.Causal{}}
}
