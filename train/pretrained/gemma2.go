package pretrained

import "attention/layers"

// gemma2 is Gemma 2 (Gemma Team 2024): norms before and after each part, capped scores and logits, and a window in
// every other layer.
var gemma2 = family{
	name: "gemma2", architecture: "Gemma2ForCausalLM", classifier: "Gemma2ForSequenceClassification",
	keys: sharedKeys + `
		num_key_value_heads head_dim hidden_activation rms_norm_eps attention_bias sliding_window layer_types
		query_pre_attn_scalar attn_logit_softcapping final_logit_softcapping rope_theta`,
	refuses: "use_bidirectional_attention",
	absent: settings{NumKVHeads: 4, HeadDim: 256, HiddenActivation: "gelu_pytorch_tanh", RMSNormEps: 1e-6,
		RopeTheta: 10000, SlidingWindow: 4096, QueryPreAttnScalar: 256, AttnLogitSoftcapping: 50,
		FinalLogitSoftcapping: 30, TieWordEmbeddings: true},
	block:   gemmaBlock(layers.AttentionConfig{}),
	scaled:  true,
	slides:  func(_ settings, layer int) bool { return layer%2 == 0 },
	weights: llamaNames,
	gguf:    ggufForm{name: "gemma2", slides: true, capped: true, wide: 46},
}

// gemmaBlock returns Gemma's block: its norms multiply by 1 + weight.
func gemmaBlock(a layers.AttentionConfig) layers.BlockConfig {
	return layers.BlockConfig{
		Attention:     a,
		MLP:           layers.MLPConfig{Activation: layers.GeGLUTanh},
		Norm:          layers.NormConfig{Kind: layers.RMSNorm, UnitOffset: true},
		NormPlacement: layers.SandwichNorm,
	}
}
