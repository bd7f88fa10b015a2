package gradcases

import (
	"attention/graph"
	"attention/graph/gradcases"
	"attention/graph/mask"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

func linears() []Case {
	plain := ofX(layers.NewLinear, layers.LinearConfig{InFeatures: 5, OutFeatures: 7})
	bias := ofX(layers.NewLinear, layers.LinearConfig{InFeatures: 5, OutFeatures: 7, Bias: true})
	return []Case{
		{Layer: "Linear", About: "(T, In)", New: plain, Inputs: x(3, 5)},
		{Layer: "Linear", About: "(T, In), bias", New: bias, Inputs: x(3, 5)},
		{Layer: "Linear", About: "(B, T, In)", New: plain, Inputs: x(2, 3, 5)},
		{Layer: "Linear", About: "(B, T, In), bias", New: bias, Inputs: x(2, 3, 5)},
	}
}

// embeddings returns cases whose ids repeat. No id is the padding, whose gradient is 0, unlike
// its differences.
func embeddings() []Case {
	c := layers.EmbeddingConfig{NumEmbeddings: 7, EmbeddingDim: 5}
	padded := c
	padded.PaddingIdx = new(3)
	ids := []gradcases.Input{gradcases.IDs("ids", []int{1, 6, 6, 0, 5, 1}, 2, 3)}
	return []Case{
		{Layer: "Embedding", About: "(B, T)", New: ofX(layers.NewEmbedding, c), Inputs: ids},
		{Layer: "Embedding", About: "padding", New: ofX(layers.NewEmbedding, padded), Inputs: ids},
	}
}

func dropouts() []Case {
	dropout := func(p float64) func(layers.Scope) (Forward, error) {
		return func(layers.Scope) (Forward, error) {
			return func(b *layers.Build, in G.Nodes) (*G.Node, error) { return layers.Dropout{P: p}.Forward(b, in[0]) }, nil
		}
	}
	return []Case{
		{Layer: "Dropout", About: "half", Mode: layers.Train, New: dropout(0.5), Inputs: x(2, 3, 5)},
		{Layer: "Dropout", About: "an eval graph", New: dropout(0.5), Inputs: x(2, 3, 5)},
	}
}

func norms() []Case {
	norm := func(c layers.NormConfig) func(layers.Scope) (Forward, error) {
		c.EmbedDim = 5
		return ofX(layers.NewNorm, c)
	}
	return []Case{
		{Layer: "Norm", About: "layer", New: norm(layers.NormConfig{}), Inputs: x(2, 3, 5)},
		{Layer: "Norm", About: "layer, bias", New: norm(layers.NormConfig{Bias: true}), Inputs: x(3, 5)},
		{Layer: "Norm", About: "rms", New: norm(layers.NormConfig{Kind: layers.RMSNorm}), Inputs: x(2, 3, 5)},
		{Layer: "Norm", About: "rms, 1 + weight", Inputs: x(2, 3, 5),
			New: norm(layers.NormConfig{Kind: layers.RMSNorm, UnitOffset: true})},
	}
}

// mlps returns a case of every activation, the layouts and biases in turn.
func mlps() []Case {
	var cases []Case
	for _, c := range []layers.MLPConfig{
		{Activation: layers.GELU, Layout: layers.Book, Bias: true},
		{Activation: layers.GELUTanh, Layout: layers.Torch},
		{Activation: layers.ReLU, Layout: layers.GPT2, Bias: true},
		{Activation: layers.SiLU, Layout: layers.Llama},
		{Activation: layers.SwiGLU, Layout: layers.PerHead, Bias: true},
		{Activation: layers.GeGLU, Layout: layers.Book, Bias: true},
		{Activation: layers.GeGLUTanh, Layout: layers.Llama},
		{Activation: layers.ReLUSquared, Layout: layers.Llama},
	} {
		c.EmbedDim, c.DimFeedforward = 5, 7
		cases = append(cases, Case{Layer: "MLP", About: string(c.Activation) + ", " + string(c.Layout),
			New: ofX(layers.NewMLP, c), Inputs: x(2, 3, 5)})
	}
	dropout := layers.MLPConfig{EmbedDim: 3, Bias: true, Dropout: 0.25, HiddenDropout: 0.5}
	return append(cases, Case{Layer: "MLP", About: "dropout", Mode: layers.Train,
		New: ofX(layers.NewMLP, dropout), Inputs: x(2, 5, 3)})
}

func blocks() []Case {
	pre := layers.BlockConfig{
		Attention: layers.AttentionConfig{EmbedDim: 6, NumHeads: 3, QKVBias: true, OutBias: true, Layout: layers.GPT2,
			Mask: mask.Causal{}},
		MLP:  layers.MLPConfig{DimFeedforward: 5, Bias: true},
		Norm: layers.NormConfig{Bias: true},
	}
	post, dropout := pre, pre
	post.NormPlacement, post.Attention.Layout = layers.PostNorm, layers.Torch
	dropout.Attention.OutDropout, dropout.MLP.Dropout = 0.25, 0.5
	llama := layers.BlockConfig{
		Attention: layers.AttentionConfig{EmbedDim: 6, NumHeads: 6, NumKVHeads: 2, HeadDim: 2, Layout: layers.Llama,
			RoPE: &graph.RoPEConfig{}, Mask: mask.Causal{}},
		MLP:  layers.MLPConfig{DimFeedforward: 5, Activation: layers.SwiGLU},
		Norm: layers.NormConfig{Kind: layers.RMSNorm},
	}
	block := func(c layers.BlockConfig) func(layers.Scope) (Forward, error) {
		return made(layers.NewBlock, c, func(l *layers.Block, b *layers.Build, in G.Nodes) (*G.Node, error) {
			return l.Forward(b, layers.AttentionInput{Query: in[0]})
		})
	}
	return []Case{
		{Layer: "Block", About: "pre-norm", Mode: layers.Train, Inputs: x(2, 3, 6), New: block(pre)},
		{Layer: "Block", About: "post-norm", Mode: layers.Train, Inputs: x(2, 3, 6), New: block(post)},
		{Layer: "Block", About: "dropout", Mode: layers.Train, Inputs: x(2, 3, 6), New: block(dropout)},
		{Layer: "Block", About: "llama", Mode: layers.Train, Inputs: x(2, 3, 6), New: block(llama)},
		{Layer: "Block", About: "LoRA", Mode: layers.Train, Inputs: x(2, 3, 6),
			New: withLoRA(block(pre), layers.LoRAConfig{Rank: 2, Dropout: 0.25})},
		{Layer: "Block", About: "llama, LoRA", Mode: layers.Train, Inputs: x(2, 3, 6),
			New: withLoRA(block(llama), layers.LoRAConfig{Rank: 1, Targets: []string{"[qv]_proj"}, Whole: []string{"mlp"}})},
	}
}

// withLoRA returns the New of a layer with adapters.
func withLoRA(create func(layers.Scope) (Forward, error), c layers.LoRAConfig) func(layers.Scope) (Forward, error) {
	return func(s layers.Scope) (Forward, error) {
		forward, err := create(s)
		if err != nil {
			return nil, err
		}
		return forward, s.Params().AddLoRA(c)
	}
}

func decoderBlocks() []Case {
	decoder := func(layout layers.Layout, placement layers.NormPlacement) func(layers.Scope) (Forward, error) {
		c := layers.DecoderBlockConfig{Block: layers.BlockConfig{
			Attention:     layers.AttentionConfig{EmbedDim: 6, NumHeads: 2, Layout: layout, Mask: mask.Causal{}},
			MLP:           layers.MLPConfig{DimFeedforward: 5},
			NormPlacement: placement,
		}}
		return made(layers.NewDecoderBlock, c, func(l *layers.DecoderBlock, b *layers.Build, in G.Nodes) (*G.Node, error) {
			return l.Forward(b, in[0], in[1], nil, nil)
		})
	}
	inputs := []gradcases.Input{gradcases.Float("x", 2, 3, 6), gradcases.Float("memory", 2, 5, 6)}
	return []Case{
		{Layer: "DecoderBlock", About: string(layers.Book), New: decoder(layers.Book, layers.PreNorm), Inputs: inputs},
		{Layer: "DecoderBlock", About: string(layers.Torch), New: decoder(layers.Torch, layers.PostNorm), Inputs: inputs},
	}
}
