package pretrained

import (
	"cmp"

	"attention/layers"
)

// ggufForm is a form of models that llama.cpp has, as data.
type ggufForm struct {
	name   string // general.architecture
	layout layers.Layout
	block  layers.BlockConfig // what it has: not its sizes, biases, positions and mask
	biases biases
	packed bool // queries, keys and values are one product
	pairs  bool // positions turn pairs (2i, 2i+1) of a head, not (i, i + D/2)
	narrow bool // heads are E/H wide
	head   bool // the scores have a matrix of their own, also if it is the token embeddings
	slides bool // all layers but every n-th have a window
	skips  int  // every one of so many layers has no positions; 0 means none
	scaled bool // token embeddings are multiplied by √E
	capped bool // scores and logits have caps
	// wide is the number of layers of the models whose scores have the scale of heads of E/H; 0 means none.
	wide int
}

// biases says which products and norms have a bias.
type biases int

const (
	noBiases  biases = iota
	qkvBiases        // those of queries, keys and values
	qkvOrNone        // these or none
	allBiases        // all: one that the model has not is 0
)

// ggufForms are all forms. A model has the first that fits.
var ggufForms = []ggufForm{
	{name: "gpt2", layout: layers.GPT2, block: plainBlock, biases: allBiases, packed: true, narrow: true},
	{name: "gptneox", layout: layers.Llama, block: plainBlock, biases: allBiases, packed: true, narrow: true,
		head: true},
	{name: "smollm3", layout: layers.Llama, block: gatedBlock, biases: qkvOrNone, pairs: true, skips: 4},
	{name: "qwen2", layout: layers.Llama, block: gatedBlock, biases: qkvBiases, narrow: true},
	{name: "llama", layout: layers.Llama, block: gatedBlock, biases: qkvOrNone, pairs: true},
	{name: "qwen3", layout: layers.Llama, block: with(gatedBlock, func(b *layers.BlockConfig) {
		b.Attention.QKNorm = layers.RMSNorm
	})},
	{name: "olmo2", layout: layers.Llama, narrow: true, head: true,
		block: with(gatedBlock, func(b *layers.BlockConfig) {
			b.NormPlacement = layers.OutputNorm
			b.Attention.QKNorm, b.Attention.QKNormWhole = layers.RMSNorm, true
		})},
	{name: "gemma2", layout: layers.Llama, slides: true, scaled: true, capped: true, wide: 46, block: sandwichBlock},
	{name: "gemma3", layout: layers.Llama, slides: true, scaled: true, wide: 62,
		block: with(sandwichBlock, func(b *layers.BlockConfig) {
			b.Attention.QKNorm, b.Attention.QKNormOffset = layers.RMSNorm, true
		})},
}

// The kinds of blocks, as blockKind returns them. A GELU is the approximation by tanh.
var (
	plainBlock = layers.BlockConfig{NormPlacement: layers.PreNorm, Norm: layers.NormConfig{Kind: layers.LayerNorm},
		MLP: layers.MLPConfig{Activation: layers.GELUTanh}}
	gatedBlock = layers.BlockConfig{NormPlacement: layers.PreNorm, Norm: layers.NormConfig{Kind: layers.RMSNorm},
		MLP: layers.MLPConfig{Activation: layers.SwiGLU}}
	sandwichBlock = layers.BlockConfig{NormPlacement: layers.SandwichNorm,
		Norm: layers.NormConfig{Kind: layers.RMSNorm, UnitOffset: true},
		MLP:  layers.MLPConfig{Activation: layers.GeGLUTanh}}
)

// with returns a block after a change.
func with(b layers.BlockConfig, change func(*layers.BlockConfig)) layers.BlockConfig {
	change(&b)
	return b
}

// blockKind returns what a block has, with its defaults: not its sizes, biases, positions, mask, scale and caps, which
// settings of a file say, nor what only training needs.
func blockKind(b layers.BlockConfig) layers.BlockConfig {
	a := &b.Attention
	a.EmbedDim, a.OutDim, a.NumHeads, a.NumKVHeads, a.HeadDim, a.Layout, a.OutStd = 0, 0, 0, 0, 0, "", 0
	a.QKVBias, a.OutBias, a.Mask, a.RoPE, a.Scale, a.Softcap, a.QKNormEps = false, false, nil, nil, 0, 0, 0
	a.Dropout, a.ContextDropout, a.OutDropout, a.ContextLength = 0, 0, 0, 0
	b.Norm = layers.NormConfig{Kind: cmp.Or(b.Norm.Kind, layers.LayerNorm), UnitOffset: b.Norm.UnitOffset}
	b.MLP = layers.MLPConfig{Activation: cmp.Or(b.MLP.Activation, layers.GELU)}
	switch b.MLP.Activation {
	case layers.GELU:
		b.MLP.Activation = layers.GELUTanh
	case layers.GeGLU:
		b.MLP.Activation = layers.GeGLUTanh
	}
	b.NormPlacement = cmp.Or(b.NormPlacement, layers.PreNorm)
	if b.ResidualScale == 1 {
		b.ResidualScale = 0
	}
	return b
}
