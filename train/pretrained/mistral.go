package pretrained

// mistral is Mistral (Jiang et al. 2023): Llama with a window in every layer.
var mistral = family{
	name: "mistral", architecture: "MistralForCausalLM", classifier: "MistralForSequenceClassification",
	keys: sharedKeys + `
		num_key_value_heads head_dim hidden_act rms_norm_eps sliding_window rope_theta`,
	absent:  settings{NumKVHeads: 8, HiddenAct: "silu", RMSNormEps: 1e-6, RopeTheta: 10000, SlidingWindow: 4096},
	block:   rmsBlock,
	slides:  func(settings, int) bool { return true },
	weights: llamaNames,
	gguf:    llamaForm,
}
