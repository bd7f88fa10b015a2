package pretrained

import "attention/layers"

// gptNeoX is GPT-NeoX and Pythia (Black et al. 2022, Biderman et al. 2023): attention and MLP in parallel, and the
// query, key and value of each head packed in this order. Its gelu is the exact one.
var gptNeoX = family{
	name: "gpt_neox", architecture: "GPTNeoXForCausalLM", classifier: "GPTNeoXForSequenceClassification",
	keys: sharedKeys + `
		hidden_act layer_norm_eps attention_bias hidden_dropout use_parallel_residual
		rotary_emb_base rotary_pct`,
	refuses: "head_dim",
	absent: settings{HiddenAct: "gelu", LayerNormEps: 1e-5, AttentionBias: true, UseParallelResidual: true,
		RotaryEmbBase: 10000, RotaryPct: 0.25},
	block: layers.BlockConfig{
		MLP:  layers.MLPConfig{Bias: true},
		Norm: layers.NormConfig{Bias: true},
	},
	weights: names{prefix: "gpt_neox.", tokens: "gpt_neox.embed_in.weight", head: "embed_out.weight", renamed: []rename{
		{ours: "model.embed_tokens", theirs: "gpt_neox.embed_in"},
		{ours: "model.layers.*.input_layernorm", theirs: "gpt_neox.layers.*.input_layernorm"},
		{ours: "model.layers.*.self_attn.q_proj", theirs: "gpt_neox.layers.*.attention.query_key_value", part: 0, of: 3},
		{ours: "model.layers.*.self_attn.k_proj", theirs: "gpt_neox.layers.*.attention.query_key_value", part: 1, of: 3},
		{ours: "model.layers.*.self_attn.v_proj", theirs: "gpt_neox.layers.*.attention.query_key_value", part: 2, of: 3},
		{ours: "model.layers.*.self_attn.o_proj", theirs: "gpt_neox.layers.*.attention.dense"},
		{ours: "model.layers.*.post_attention_layernorm", theirs: "gpt_neox.layers.*.post_attention_layernorm"},
		{ours: "model.layers.*.mlp.up_proj", theirs: "gpt_neox.layers.*.mlp.dense_h_to_4h"},
		{ours: "model.layers.*.mlp.down_proj", theirs: "gpt_neox.layers.*.mlp.dense_4h_to_h"},
		{ours: "model.norm", theirs: "gpt_neox.final_layer_norm"},
		{ours: "lm_head", theirs: "embed_out"},
	}},
	gguf: ggufForm{name: "gptneox", biases: allBiases, packed: true, narrow: true, head: true},
}
