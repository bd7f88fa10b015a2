package pretrained

import "attention/layers"

// olmo2 is OLMo 2 (OLMo et al. 2024): norms of the outputs of attention and MLP, and norms of queries and keys over all
// heads together.
var olmo2 = family{
	name: "olmo2", architecture: "Olmo2ForCausalLM",
	keys: sharedKeys + `
		num_key_value_heads head_dim hidden_act rms_norm_eps attention_bias rope_theta`,
	absent: settings{HiddenAct: "silu", RMSNormEps: 1e-5, RopeTheta: 10000},
	block: layers.BlockConfig{
		Attention:     layers.AttentionConfig{QKNorm: layers.RMSNorm, QKNormWhole: true},
		MLP:           rmsBlock.MLP,
		Norm:          rmsBlock.Norm,
		NormPlacement: layers.OutputNorm,
	},
	weights: llamaNames,
	gguf:    ggufForm{name: "olmo2", narrow: true, head: true},
}
