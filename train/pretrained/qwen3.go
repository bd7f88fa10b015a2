package pretrained

import "attention/layers"

// qwen3 is Qwen 3 (Yang et al. 2025): Qwen 2 with norms of each head's queries and keys in place of the biases.
var qwen3 = family{
	name: "qwen3", architecture: "Qwen3ForCausalLM", classifier: "Qwen3ForSequenceClassification",
	keys: sharedKeys + `
		num_key_value_heads head_dim hidden_act rms_norm_eps attention_bias sliding_window
		use_sliding_window max_window_layers layer_types rope_theta`,
	absent: settings{NumKVHeads: 32, HeadDim: 128, HiddenAct: "silu", RMSNormEps: 1e-6, RopeTheta: 10000,
		SlidingWindow: 4096, MaxWindowLayers: 28},
	block: layers.BlockConfig{
		Attention: layers.AttentionConfig{QKNorm: layers.RMSNorm},
		MLP:       rmsBlock.MLP,
		Norm:      rmsBlock.Norm,
	},
	slides:  afterMaxWindowLayers,
	weights: llamaNames,
	gguf:    ggufForm{name: "qwen3"},
}
