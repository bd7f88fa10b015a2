package pretrained

import "attention/layers"

// qwen2 is Qwen 2 and 2.5 (Yang et al. 2024): Llama with biases of queries, keys and values. No key of config.json
// controls these biases. With use_sliding_window, the layers from number max_window_layers on have a window.
var qwen2 = family{
	name: "qwen2", architecture: "Qwen2ForCausalLM", classifier: "Qwen2ForSequenceClassification",
	keys: sharedKeys + `
		num_key_value_heads head_dim hidden_act rms_norm_eps sliding_window use_sliding_window max_window_layers
		layer_types rope_theta`,
	absent: settings{NumKVHeads: 32, HiddenAct: "silu", RMSNormEps: 1e-6, RopeTheta: 10000, SlidingWindow: 4096,
		MaxWindowLayers: 28},
	block: layers.BlockConfig{
		Attention: layers.AttentionConfig{QKVBias: true},
		MLP:       rmsBlock.MLP,
		Norm:      rmsBlock.Norm,
	},
	slides:  afterMaxWindowLayers,
	weights: llamaNames,
	gguf:    ggufForm{name: "qwen2", biases: qkvBiases, narrow: true},
}

func afterMaxWindowLayers(s settings, layer int) bool { return layer >= s.MaxWindowLayers }
