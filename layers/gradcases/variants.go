package gradcases

import (
	"attention/graph"
	"attention/graph/gradcases"
	"attention/layers"
	"attention/layers/chapter"

	G "gorgonia.org/gorgonia"
)

// variants returns the cases of the chapter's classes: three of each config, and one of a single token.
func variants() (cases []Case) {
	add := func(layer, about string, create func(layers.Scope) (Forward, error), in int) {
		one := Case{Layer: layer, About: "(T, In)" + about, Mode: layers.Train, New: create, Inputs: x(3, in)}
		batch := one
		batch.About, batch.Inputs = "(B, T, In)"+about, x(2, 3, in)
		cases = append(cases, one, batch, batch.observed())
	}
	add("SimpleSelfAttention", "", func(layers.Scope) (Forward, error) {
		return func(b *layers.Build, in G.Nodes) (*G.Node, error) {
			return chapter.SimpleSelfAttention{}.Forward(b, in[0])
		}, nil
	}, 5)
	causal := chapter.Causal(5, 7)
	causal.ContextLength = 11
	for _, c := range []struct {
		layer, about string
		config       layers.AttentionConfig
		bias         bool
		dropout      float64
	}{
		{layer: "SelfAttentionV1", config: chapter.SelfV1(5, 7)},
		{layer: "SelfAttentionV2", config: chapter.SelfV2(5, 7)},
		{layer: "SelfAttentionV2", about: ", bias", config: chapter.SelfV2(5, 7), bias: true},
		{layer: "CausalAttention", config: causal},
		{layer: "CausalAttention", about: ", bias", config: causal, bias: true},
		{layer: "CausalAttention", about: ", dropout", config: causal, dropout: 0.5},
		{layer: "MultiHeadAttention", config: chapter.MultiHead(7, 10, 2)},
		{layer: "MultiHeadAttention", about: ", one head", config: chapter.MultiHead(7, 10, 1)},
		{layer: "MultiHeadAttention", about: ", bias", config: chapter.MultiHead(7, 10, 2), bias: true},
		{layer: "MultiHeadAttention", about: ", dropout", config: chapter.MultiHead(7, 10, 2), dropout: 0.5},
		{layer: wrapper, config: chapter.MultiHeadWrapper(7, 5, 2)},
		{layer: wrapper, about: ", 3 heads, bias, dropout", config: chapter.MultiHeadWrapper(7, 5, 3), bias: true,
			dropout: 0.5},
	} {
		c.config.QKVBias, c.config.Dropout, c.config.ContextDropout = c.bias, c.dropout, c.dropout/2
		create := ofX(layers.NewAttention, c.config)
		add(c.layer, c.about, create, c.config.EmbedDim)
		if c.about == ", bias" {
			cases = append(cases, Case{Layer: c.layer, About: "T=1", New: create, Inputs: x(2, 1, c.config.EmbedDim)})
		}
	}
	return append(cases, wrapperWeights())
}

const wrapper = "MultiHeadAttentionWrapper"

func wrapperWeights() Case {
	c := chapter.MultiHeadWrapper(7, 5, 2)
	joined := func(l *layers.Attention, b *layers.Build, in G.Nodes) (*G.Node, error) {
		out := b.Of(graph.SplitHeads(b.Of(l.Forward(b, in[0])), c.NumHeads))
		out = b.Of(graph.Concat(out, b.Of(l.Weights(b, layers.AttentionInput{Query: in[0]}))))
		return out, b.Err()
	}
	return Case{Layer: wrapper, About: "its weights", New: made(layers.NewAttention, c, joined), Inputs: x(2, 3, 7),
		Reason: "the values have no part in the weights, so the context vectors are joined to them"}
}

func additives() []Case {
	additive := made(layers.NewAdditiveAttention, layers.AdditiveAttentionConfig{QueryDim: 7, KeyDim: 5, AttnDim: 11},
		func(l *layers.AdditiveAttention, b *layers.Build, in G.Nodes) (*G.Node, error) {
			return l.Forward(b, in[0], in[1])
		})
	of := func(about string, query, key []int) Case {
		return Case{Layer: "AdditiveAttention", About: about, New: additive,
			Inputs: []gradcases.Input{gradcases.Float("query", query...), gradcases.Float("key", key...)}}
	}
	return []Case{
		of("(T, Query), (S, Key)", []int{2, 7}, []int{3, 5}),
		of("(B, T, Query), (B, S, Key)", []int{2, 5, 7}, []int{2, 3, 5}),
		of("T=1", []int{1, 7}, []int{3, 5}),
	}
}
