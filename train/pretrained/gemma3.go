package pretrained

import "attention/layers"

// gemma3 is the text model of Gemma 3 (Gemma Team 2025): norms of queries and keys in place of the caps, and windows in
// five of six layers, with another base for the positions of these layers.
var gemma3 = family{
	name: "gemma3_text", architecture: "Gemma3ForCausalLM", classifier: "Gemma3TextForSequenceClassification",
	keys: sharedKeys + `
		num_key_value_heads head_dim hidden_activation rms_norm_eps attention_bias sliding_window layer_types
		sliding_window_pattern query_pre_attn_scalar final_logit_softcapping rope_theta rope_local_base_freq`,
	refuses: "use_bidirectional_attention",
	absent: settings{NumKVHeads: 4, HeadDim: 256, HiddenActivation: "gelu_pytorch_tanh", RMSNormEps: 1e-6,
		RopeTheta: 1e6, RopeLocalBaseFreq: 10000, SlidingWindow: 4096, SlidingWindowPattern: 6,
		QueryPreAttnScalar: 256, TieWordEmbeddings: true},
	block:  gemmaBlock(layers.AttentionConfig{QKNorm: layers.RMSNorm, QKNormOffset: true}),
	scaled: true,
	slides: func(s settings, layer int) bool {
		return s.SlidingWindowPattern == 0 || (layer+1)%s.SlidingWindowPattern != 0
	},
	weights: llamaNames,
	gguf:    ggufForm{name: "gemma3", slides: true, wide: 62},
}
