package main

import (
	"slices"

	"attention/graph"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// layerCase checks a layer made of a config. Its forward adds the inputs.
func layerCase[C, L any](covers, about string, create func(layers.Scope, C) (L, error), c C, mode layers.Mode,
	forward func(l L, b *layers.Build, g *checkedGraph) (*G.Node, error)) gradcheckCase {
	return gradcheckCase{group: "layer", covers: covers, about: about, build: func(g *checkedGraph) (*G.Node, error) {
		l, err := create(g.scope(), c)
		if err != nil {
			return nil, err
		}
		b, err := g.begin(mode)
		if err != nil {
			return nil, err
		}
		return forward(l, b, g)
	}}
}

// sequenceCase checks a layer of one input, which has a shape.
func sequenceCase[C any, L interface {
	Forward(b *layers.Build, x *G.Node) (*G.Node, error)
}](covers, about string, create func(layers.Scope, C) (L, error), c C, mode layers.Mode, shape ...int) gradcheckCase {
	return layerCase(covers, about, create, c, mode, func(l L, b *layers.Build, g *checkedGraph) (*G.Node, error) {
		return l.Forward(b, g.input("x", shape...))
	})
}

// weighingCase is sequenceCase by way of ForwardWithWeights, which computes the
// same output from other ops.
func weighingCase[C any, L interface {
	ForwardWithWeights(b *layers.Build, x *G.Node) (out, weights *G.Node, err error)
}](covers, about string, create func(layers.Scope, C) (L, error), c C, mode layers.Mode, shape ...int) gradcheckCase {
	about += ", with weights"
	return layerCase(covers, about, create, c, mode, func(l L, b *layers.Build, g *checkedGraph) (*G.Node, error) {
		out, _, err := l.ForwardWithWeights(b, g.input("x", shape...))
		return out, err
	})
}

func gradcheckLayers() []gradcheckCase {
	return slices.Concat(linearLayers(), selfAttentionLayers(), causalLayers(), multiHeadLayers(), wrapperLayers(), attentionLayers(),
		additiveLayers(), languageModels(), transformerLayers())
}

func linearLayers() []gradcheckCase {
	plain, bias := layers.LinearConfig{In: 5, Out: 7}, layers.LinearConfig{In: 5, Out: 7, Bias: true}
	return []gradcheckCase{
		sequenceCase("Linear", "(T, In)", layers.NewLinear, plain, layers.Eval, 3, 5),
		sequenceCase("Linear", "(T, In), bias", layers.NewLinear, bias, layers.Eval, 3, 5),
		sequenceCase("Linear", "(B, T, In)", layers.NewLinear, plain, layers.Eval, 2, 3, 5),
		sequenceCase("Linear", "(B, T, In), bias", layers.NewLinear, bias, layers.Eval, 2, 3, 5),
	}
}

func selfAttentionLayers() []gradcheckCase {
	simple := func(layers.Scope, struct{}) (layers.SimpleSelfAttention, error) {
		return layers.SimpleSelfAttention{}, nil
	}
	none := struct{}{}
	v1 := layers.SelfAttentionV1Config{In: 5, Out: 7}
	v2, bias := layers.SelfAttentionV2Config{In: 5, Out: 7}, layers.SelfAttentionV2Config{In: 5, Out: 7, QKVBias: true}
	return []gradcheckCase{
		sequenceCase("SimpleSelfAttention", "(T, In)", simple, none, layers.Eval, 3, 5),
		sequenceCase("SimpleSelfAttention", "(B, T, In)", simple, none, layers.Eval, 2, 3, 5),
		weighingCase("SimpleSelfAttention", "(B, T, In)", simple, none, layers.Eval, 2, 3, 5),
		sequenceCase("SelfAttentionV1", "(T, In)", layers.NewSelfAttentionV1, v1, layers.Eval, 3, 5),
		sequenceCase("SelfAttentionV1", "(B, T, In)", layers.NewSelfAttentionV1, v1, layers.Eval, 2, 3, 5),
		weighingCase("SelfAttentionV1", "(B, T, In)", layers.NewSelfAttentionV1, v1, layers.Eval, 2, 3, 5),
		sequenceCase("SelfAttentionV2", "(T, In)", layers.NewSelfAttentionV2, v2, layers.Eval, 3, 5),
		sequenceCase("SelfAttentionV2", "(T, In), bias", layers.NewSelfAttentionV2, bias, layers.Eval, 3, 5),
		sequenceCase("SelfAttentionV2", "(B, T, In)", layers.NewSelfAttentionV2, v2, layers.Eval, 2, 3, 5),
		sequenceCase("SelfAttentionV2", "(B, T, In), bias", layers.NewSelfAttentionV2, bias, layers.Eval, 2, 3, 5),
		weighingCase("SelfAttentionV2", "(B, T, In), bias", layers.NewSelfAttentionV2, bias, layers.Eval, 2, 3, 5),
	}
}

func causalLayers() []gradcheckCase {
	plain := layers.CausalAttentionConfig{In: 5, Out: 7, ContextLength: 11}
	bias, renormalized, dropout := plain, plain, plain
	bias.QKVBias = true
	renormalized.Renormalize = true
	dropout.Dropout, dropout.ContextDropout = 0.5, 0.25
	var cases []gradcheckCase
	for _, c := range []struct {
		about  string
		config layers.CausalAttentionConfig
	}{{"", plain}, {", bias", bias}, {", renormalized", renormalized}, {", dropout", dropout}} {
		cases = append(cases,
			sequenceCase("CausalAttention", "(T, In)"+c.about, layers.NewCausalAttention, c.config, layers.Train, 3, 5),
			sequenceCase("CausalAttention", "(B, T, In)"+c.about, layers.NewCausalAttention, c.config, layers.Train, 2, 3, 5),
			weighingCase("CausalAttention", "(B, T, In)"+c.about, layers.NewCausalAttention, c.config, layers.Train, 2, 3, 5))
	}
	return append(cases, sequenceCase("CausalAttention", "T=1", layers.NewCausalAttention, bias, layers.Eval, 2, 1, 5))
}

func multiHeadLayers() []gradcheckCase {
	plain := layers.MultiHeadAttentionConfig{In: 7, Out: 10, NumHeads: 2}
	single, bias, renormalized, dropout := plain, plain, plain, plain
	single.NumHeads = 1
	bias.QKVBias = true
	renormalized.Renormalize = true
	dropout.Dropout, dropout.ContextDropout = 0.5, 0.25
	var cases []gradcheckCase
	for _, c := range []struct {
		about  string
		config layers.MultiHeadAttentionConfig
	}{{"", plain}, {", one head", single}, {", bias", bias}, {", renormalized", renormalized}, {", dropout", dropout}} {
		cases = append(cases,
			sequenceCase("MultiHeadAttention", "(T, In)"+c.about, layers.NewMultiHeadAttention, c.config, layers.Train, 3, 7),
			sequenceCase("MultiHeadAttention", "(B, T, In)"+c.about, layers.NewMultiHeadAttention, c.config, layers.Train, 2, 3, 7),
			weighingCase("MultiHeadAttention", "(B, T, In)"+c.about, layers.NewMultiHeadAttention, c.config, layers.Train, 2, 3, 7))
	}
	return append(cases, sequenceCase("MultiHeadAttention", "T=1", layers.NewMultiHeadAttention, bias, layers.Eval, 2, 1, 7))
}

func wrapperLayers() []gradcheckCase {
	const name = "MultiHeadAttentionWrapper"
	two := layers.MultiHeadAttentionWrapperConfig{Head: layers.CausalAttentionConfig{In: 7, Out: 5}, NumHeads: 2}
	three := layers.MultiHeadAttentionWrapperConfig{Head: layers.CausalAttentionConfig{In: 7, Out: 5, QKVBias: true, Dropout: 0.5}, NumHeads: 3}
	// The values have no part in the weights, so the context vectors are joined to them.
	outAndWeights := func(l *layers.MultiHeadAttentionWrapper, b *layers.Build, g *checkedGraph) (*G.Node, error) {
		out, weights, err := l.ForwardWithWeights(b, g.input("x", 2, 3, 7))
		if err != nil {
			return nil, err
		}
		if out, err = graph.SplitHeads(out, two.NumHeads); err != nil {
			return nil, err
		}
		return graph.Concat(out, weights)
	}
	return []gradcheckCase{
		sequenceCase(name, "(T, In)", layers.NewMultiHeadAttentionWrapper, two, layers.Eval, 3, 7),
		sequenceCase(name, "(B, T, In)", layers.NewMultiHeadAttentionWrapper, two, layers.Eval, 2, 3, 7),
		sequenceCase(name, "three heads, bias, dropout", layers.NewMultiHeadAttentionWrapper, three, layers.Train, 2, 3, 7),
		weighingCase(name, "three heads, bias, dropout", layers.NewMultiHeadAttentionWrapper, three, layers.Train, 2, 3, 7),
		layerCase(name, "its weights", layers.NewMultiHeadAttentionWrapper, two, layers.Eval, outAndWeights),
	}
}

func additiveLayers() []gradcheckCase {
	additive := func(about string, query, key []int) gradcheckCase {
		c := layers.AdditiveAttentionConfig{Query: 7, Key: 5, Attn: 11}
		return layerCase("AdditiveAttention", about, layers.NewAdditiveAttention, c, layers.Eval,
			func(l *layers.AdditiveAttention, b *layers.Build, g *checkedGraph) (*G.Node, error) {
				return l.Forward(b, g.input("query", query...), g.input("key", key...))
			})
	}
	return []gradcheckCase{
		additive("(T, Query), (S, Key)", []int{2, 7}, []int{3, 5}),
		additive("(B, T, Query), (B, S, Key)", []int{2, 5, 7}, []int{2, 3, 5}),
		additive("T=1", []int{1, 7}, []int{3, 5}),
	}
}

// languageModels checks the model over every variant of attention, from ids to
// logits and on to the loss.
func languageModels() []gradcheckCase {
	var cases []gradcheckCase
	for _, name := range layers.Variants() {
		c := layers.LanguageModelConfig{Vocab: 7, Context: 5, Width: 3, Attention: layers.VariantConfig{
			Layer: name, DIn: 3, DOut: 4, ContextLength: 5, NumHeads: 2, DQuery: 3, DKey: 3, DAttn: 5, QKVBias: true, Dropout: 0.25}}
		logits := func(m *layers.LanguageModel, b *layers.Build, g *checkedGraph) (*G.Node, error) {
			out, _, err := m.ForwardWithWeights(b, g.ids("ids", []int{2, 0, 6, 2}, 4))
			return out, err
		}
		loss := func(m *layers.LanguageModel, b *layers.Build, g *checkedGraph) (*G.Node, error) {
			out, err := m.Forward(b, g.ids("ids", []int{1, 6, 6, 0, 5, 1}, 2, 3))
			if err != nil {
				return nil, err
			}
			return graph.CrossEntropy(out, g.ids("targets", []int{6, 6, 2, 5, 1, 0}, 2, 3))
		}
		cases = append(cases,
			layerCase("LanguageModel", name+", (T), logits, with weights", layers.NewLanguageModel, c, layers.Train, logits),
			layerCase("LanguageModel", name+", (B, T), loss", layers.NewLanguageModel, c, layers.Train, loss))
	}
	return cases
}
