package layers

import (
	"cmp"

	"attention/internal/config"
)

// Layout is a way to name, shape and draw the parameters of a layer.
type Layout string

// The layouts. C is the width of all heads' outputs side by side, H·Dv.
const (
	// Book is the chapter's: W_query.weight (H·D, E), W_key.weight (K·D, KDim),
	// W_value.weight (K·Dv, VDim), out_proj.weight (OutDim, C) and their .bias.
	Book Layout = "book"
	// Torch is nn.MultiheadAttention's: in_proj_weight (H·D + K·D + K·Dv, E), or
	// q_proj_weight, k_proj_weight and v_proj_weight if keys or values have another width,
	// in_proj_bias, out_proj.weight (OutDim, C), out_proj.bias.
	Torch Layout = "torch"
	// GPT2 is GPT-2's, with transposed weights: c_attn.weight (E, H·D + K·D + K·Dv),
	// c_proj.weight (C, OutDim) and their .bias. Keys and values are as wide as queries.
	GPT2 Layout = "gpt2"
	// Llama is the layout of Llama and its kin in Hugging Face's transformers: q_proj.weight,
	// k_proj.weight, v_proj.weight and o_proj.weight (OutDim, C), and their .bias.
	Llama Layout = "llama"
	// PerHead is Book with separate projections of each head: heads.0.W_query.weight (D, E),
	// heads.0.W_key.weight (D, KDim), heads.0.W_value.weight (Dv, VDim), …, out_proj.weight
	// (OutDim, C). Each key/value head has one query head.
	PerHead Layout = "per_head"
	// BERT is that of BERT in Hugging Face's transformers: self.query.weight, self.key.weight, self.value.weight and
	// output.dense.weight (OutDim, C), and their .bias.
	BERT Layout = "bert"
	// Raw has bare matrices in place of linear layers, as the chapter's first class:
	// W_query (E, H·D), W_key (KDim, K·D) and W_value (VDim, K·Dv), uniform in [0, 1). It has
	// no biases and no output projection.
	Raw Layout = "raw"
)

// allLayouts are the values of Layout.
var allLayouts = []Layout{Book, Torch, GPT2, Llama, PerHead, Raw, BERT}

// layout has the names of a Layout's parameters and parts.
type layout struct {
	// An attention's projections of queries, keys and values, one by one or packed into
	// one parameter, then the output's.
	weights, biases    [3]string
	packed, packedBias string
	out, outBias       string

	gate, in, last string // an MLP's products

	// The parts of a Block and, in addition or instead, of a DecoderBlock. An empty name adds
	// nothing.
	attention, mlp string
	norms          [2]string
	sandwich       [4]string // norms of a part's input and output, the attention's first
	cross          string
	decoderNorms   [3]string

	// The parts of a Decoder.
	tokens, positions, blocks, lastNorm, head string

	transposed bool // weights are (in, out), not (out, in)
	normal     bool // weights begin with the deviation 0.02 and biases with 0, not as nn.Linear's
	uniform    bool // weights begin in [0, 1)
}

var layouts = map[Layout]layout{
	Book: {
		weights: [3]string{"W_query.weight", "W_key.weight", "W_value.weight"},
		biases:  [3]string{"W_query.bias", "W_key.bias", "W_value.bias"},
		out:     "out_proj.weight", outBias: "out_proj.bias",
		gate: "gate", in: "fc", last: "proj",
		attention: "attn", mlp: "mlp", norms: [2]string{"ln_1", "ln_2"},
		sandwich: [4]string{"ln_1", "ln_1_out", "ln_2", "ln_2_out"},
		cross:    "cross_attn", decoderNorms: [3]string{"ln_1", "ln_cross_attn", "ln_2"},
	},
	Torch: {
		weights: [3]string{"q_proj_weight", "k_proj_weight", "v_proj_weight"},
		packed:  "in_proj_weight", packedBias: "in_proj_bias",
		out: "out_proj.weight", outBias: "out_proj.bias",
		gate: "linear_gate", in: "linear1", last: "linear2",
		attention: "self_attn", norms: [2]string{"norm1", "norm2"},
		sandwich: [4]string{"norm1", "norm1_out", "norm2", "norm2_out"},
		cross:    "multihead_attn", decoderNorms: [3]string{"norm1", "norm2", "norm3"},
	},
	GPT2: {
		packed: "c_attn.weight", packedBias: "c_attn.bias",
		out: "c_proj.weight", outBias: "c_proj.bias",
		gate: "c_gate", in: "c_fc", last: "c_proj",
		attention: "attn", mlp: "mlp", norms: [2]string{"ln_1", "ln_2"},
		sandwich: [4]string{"ln_1", "ln_1_out", "ln_2", "ln_2_out"},
		cross:    "crossattention", decoderNorms: [3]string{"ln_1", "ln_cross_attn", "ln_2"},
		tokens: "transformer.wte", positions: "transformer.wpe", blocks: "transformer.h", lastNorm: "transformer.ln_f",
		head:       "lm_head",
		transposed: true, normal: true,
	},
	Llama: {
		weights: [3]string{"q_proj.weight", "k_proj.weight", "v_proj.weight"},
		biases:  [3]string{"q_proj.bias", "k_proj.bias", "v_proj.bias"},
		out:     "o_proj.weight", outBias: "o_proj.bias",
		gate: "gate_proj", in: "up_proj", last: "down_proj",
		attention: "self_attn", mlp: "mlp", norms: [2]string{"input_layernorm", "post_attention_layernorm"},
		sandwich: [4]string{"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
			"post_feedforward_layernorm"},
		cross:        "cross_attn",
		decoderNorms: [3]string{"input_layernorm", "cross_attn_layernorm", "post_attention_layernorm"},
		tokens:       "model.embed_tokens", positions: "model.embed_positions", blocks: "model.layers",
		lastNorm: "model.norm", head: "lm_head",
		normal: true,
	},
	BERT: {
		weights: [3]string{"self.query.weight", "self.key.weight", "self.value.weight"},
		biases:  [3]string{"self.query.bias", "self.key.bias", "self.value.bias"},
		out:     "output.dense.weight", outBias: "output.dense.bias",
		gate: "gate.dense", in: "intermediate.dense", last: "output.dense",
		attention: "attention", norms: [2]string{"attention.output.LayerNorm", "output.LayerNorm"},
		sandwich: [4]string{"attention.LayerNorm", "attention.output.LayerNorm", "intermediate.LayerNorm",
			"output.LayerNorm"},
		cross:        "crossattention",
		decoderNorms: [3]string{"attention.output.LayerNorm", "crossattention.output.LayerNorm", "output.LayerNorm"},
		tokens:       "embeddings.word_embeddings", positions: "embeddings.position_embeddings", blocks: "encoder.layer",
		normal: true,
	},
	Raw: {weights: [3]string{"W_query", "W_key", "W_value"}, transposed: true, uniform: true},
}

// names returns the layout's names of parts. PerHead and Raw are layouts of an attention; all
// else is named as in Book.
func (l Layout) names() layout {
	if l == PerHead || l == Raw {
		l = Book
	}
	return layouts[l]
}

// validate refuses an unknown layout in the field Layout of config c; empty means Book.
func (l Layout) validate(c any) error {
	return config.OneOf(c, "Layout", cmp.Or(l, Book), allLayouts...)
}

// weightInit returns how the weight of a linear map is drawn.
func (l layout) weightInit(in int) Init {
	switch {
	case l.normal:
		return Normal(0, 0.02)
	case l.uniform:
		return Uniform(0, 1)
	}
	return linearWeight(in)
}

// biasInit returns how the bias of a linear map is drawn.
func (l layout) biasInit(in int) Init {
	if l.normal {
		return Constant(0)
	}
	return linearBias(in)
}
