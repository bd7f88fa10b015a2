package layers

import (
	"math"
	"reflect"

	"attention/graph/mask"
	"attention/internal/config"
)

// GPTConfig sizes a GPT. GPT2Defaults has what GPT-2's config.json of Hugging Face's transformers leaves out.
type GPTConfig struct {
	VocabSize      int `json:"vocab_size"`                // V
	ContextLength  int `json:"context_length"`            // the longest sequence
	EmbedDim       int `json:"embed_dim"`                 // E
	NumLayers      int `json:"num_layers"`                // blocks, at most 65536
	NumHeads       int `json:"num_heads"`                 // H, a divisor of EmbedDim
	NumKVHeads     int `json:"num_kv_heads,omitempty"`    // K, a divisor of NumHeads; 0 means H
	DimFeedforward int `json:"dim_feedforward,omitempty"` // width within the MLPs; 0 means 4·EmbedDim
	// Activation has transformers' names: gelu_new, gelu_pytorch_tanh and gelu_fast (the same), gelu, relu, relu2,
	// silu or swish (the same); empty means gelu.
	Activation string `json:"activation"`

	Eps float64 `json:"eps"` // 0 means 1e-5

	EmbeddingDropout float64 `json:"embedding_dropout"` // of the embeddings, in Train graphs
	AttentionDropout float64 `json:"attention_dropout"` // of the attention weights
	ResidualDropout  float64 `json:"residual_dropout"`  // of what attention and MLP add

	TieWordEmbeddings bool `json:"tie_word_embeddings"` // the token embeddings give the scores, too
	Bias              bool `json:"bias"`                // in each norm and linear layer of the blocks
	// QKVBias is whether the projections of queries, keys and values have a bias; nil means
	// as Bias says.
	QKVBias *bool `json:"qkv_bias,omitempty"`
	// Initializer is how the parameters begin: gpt2, with the deviation 0.02, or torch, as
	// nn.Embedding and nn.Linear do; empty means gpt2.
	Initializer string `json:"initializer,omitempty"`
}

// The values of GPTConfig.Initializer.
const (
	GPT2Initializer  = "gpt2"
	TorchInitializer = "torch"
)

// GPT2Defaults returns the config into which a config.json of GPT-2 is read: keys that the file
// leaves out mean the activation gelu_new, tied embeddings and biases.
func GPT2Defaults() GPTConfig {
	return GPTConfig{Activation: "gelu_new", TieWordEmbeddings: true, Bias: true}
}

// gptActivations are transformers' names of activations.
var gptActivations = map[string]Activation{"gelu": GELU, "gelu_new": GELUTanh, "gelu_pytorch_tanh": GELUTanh,
	"gelu_fast": GELUTanh, "relu": ReLU, "relu2": ReLUSquared, "silu": SiLU, "swish": SiLU, "": GELU}

// maxBlocks is more than any model has, and few enough that counts of elements fit an int.
const maxBlocks = 1 << 16

// Validate returns an error that names the first wrong field.
func (c GPTConfig) Validate() error { return inLayer("GPT", c.validate()) }

func (c GPTConfig) validate() error {
	if _, ok := gptActivations[c.Activation]; !ok {
		return config.Errorf(c, "Activation", "got %q, want gelu_new, gelu_pytorch_tanh, gelu, relu, relu2 or silu",
			c.Activation)
	}
	const block, attention = "Blocks[0].", "Blocks[0].Attention."
	return config.From(c, c.Decoder().validate(), map[string]string{
		attention + "NumHeads": "NumHeads", attention + "NumKVHeads": "NumKVHeads", attention + "EmbedDim": "EmbedDim",
		attention + "OutDim": "EmbedDim", block + "MLP.EmbedDim": "EmbedDim", block + "MLP.DimFeedforward": "DimFeedforward",
		block + "Norm.Eps": "Eps", attention + "Dropout": "AttentionDropout", attention + "OutDropout": "ResidualDropout",
	})
}

// Decoder returns the config of the GPT as a Decoder. The initial output projections of blocks are scaled by
// 1/√(2·NumLayers), so that the sum of all outputs has the same size for every number of blocks (Radford et al. 2019).
func (c GPTConfig) Decoder() DecoderConfig {
	std, qkvBias := 0.02/math.Sqrt(2*float64(c.NumLayers)), c.Bias
	if c.QKVBias != nil {
		qkvBias = *c.QKVBias
	}
	return DecoderConfig{
		VocabSize: c.VocabSize, ContextLength: c.ContextLength, NumLayers: c.NumLayers,
		Blocks: []BlockConfig{{
			Attention: AttentionConfig{
				EmbedDim: c.EmbedDim, NumHeads: c.NumHeads, NumKVHeads: c.NumKVHeads, Layout: GPT2, Mask: mask.Causal{},
				QKVBias: qkvBias, OutBias: c.Bias,
				Dropout: c.AttentionDropout, OutDropout: c.ResidualDropout, OutStd: std,
			},
			MLP: MLPConfig{DimFeedforward: c.DimFeedforward, Activation: gptActivations[c.Activation],
				Bias: c.Bias, Dropout: c.ResidualDropout, OutStd: std},
			Norm: NormConfig{EmbedDim: c.EmbedDim, Bias: c.Bias, Eps: c.Eps},
		}},
		LearnedPositions: true, EmbeddingDropout: c.EmbeddingDropout,
		TieWordEmbeddings: c.TieWordEmbeddings, Layout: GPT2, Initializer: c.Initializer,
	}
}

// GPT returns the config of the GPT that a decoder is, and whether it is one. An activation that has two names gets
// gelu_new, and biases of queries, keys and values are as Bias says unless they differ.
func (c DecoderConfig) GPT() (GPTConfig, bool) {
	if len(c.Blocks) != 1 {
		return GPTConfig{}, false
	}
	b := c.Blocks[0]
	a := b.Attention
	g := GPTConfig{
		VocabSize: c.VocabSize, ContextLength: c.ContextLength, EmbedDim: a.EmbedDim, NumLayers: c.NumLayers,
		NumHeads: a.NumHeads, NumKVHeads: a.NumKVHeads, DimFeedforward: b.MLP.DimFeedforward, Eps: b.Norm.Eps,
		EmbeddingDropout: c.EmbeddingDropout, AttentionDropout: a.Dropout, ResidualDropout: a.OutDropout,
		TieWordEmbeddings: c.TieWordEmbeddings, Bias: b.MLP.Bias, Initializer: c.Initializer,
	}
	for _, name := range []string{"gelu", "gelu_new", "relu", "relu2", "silu"} {
		if gptActivations[name] == b.MLP.Activation {
			g.Activation = name
		}
	}
	if a.QKVBias != g.Bias {
		g.QKVBias = &a.QKVBias
	}
	return g, reflect.DeepEqual(g.Decoder(), c)
}

// NewGPT makes a Decoder that is GPT-2 (Radford et al. 2019): with token and position embeddings, and blocks with the
// norms before the parts. Its parameters are those of GPT-2's state_dict:
//
//	transformer.wte.weight (V, E), transformer.wpe.weight (ContextLength, E)
//	transformer.h.0.ln_1.weight (E)
//	transformer.h.0.attn.c_attn.weight (E, E + 2·K·D), transformer.h.0.attn.c_proj.weight (E, E)
//	transformer.h.0.ln_2.weight (E)
//	transformer.h.0.mlp.c_fc.weight (E, F), transformer.h.0.mlp.c_proj.weight (F, E)
//	…
//	transformer.ln_f.weight (E)
//	lm_head.weight (V, E), unless TieWordEmbeddings
//
// and, with Bias, the .bias of each norm and each linear layer under transformer.h; c_attn has a bias if QKVBias is
// set. D is E/H and F is DimFeedforward; with as many key/value heads as heads c_attn.weight is (E, 3E). Weights are
// drawn from a normal distribution with the deviation 0.02, both c_proj with 0.02/√(2·NumLayers); norms begin with 1,
// biases with 0. With the Initializer torch, embeddings are drawn with the deviation 1, and the weights and biases of
// all other products are uniform within ±1/√in, in the order of a model with an nn.Linear for each of queries, keys and
// values.
func NewGPT(s Scope, c GPTConfig) (*Decoder, error) { return checked(s, "GPT", c, newGPT) }

func newGPT(s Scope, c GPTConfig) (*Decoder, error) {
	m, err := newDecoder(s, c.Decoder())
	if err == nil {
		m.name = s.name("GPT")
	}
	return m, err
}
