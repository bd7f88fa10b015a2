package pretrained

// smollm3 is SmolLM 3 (Hugging Face 2025): Llama in which some layers have no positions: every fourth layer, unless a
// list names them.
var smollm3 = family{
	name: "smollm3", architecture: "SmolLM3ForCausalLM", classifier: "SmolLM3ForSequenceClassification",
	keys: sharedKeys + `
		num_key_value_heads head_dim hidden_act rms_norm_eps attention_bias mlp_bias sliding_window
		use_sliding_window layer_types no_rope_layers no_rope_layer_interval rope_theta`,
	absent: settings{NumKVHeads: 4, HiddenAct: "silu", RMSNormEps: 1e-6, RopeTheta: 2e6, NoRopeInterval: 4,
		TieWordEmbeddings: true},
	block: rmsBlock,
	slides: func(s settings, layer int) bool { // layers without positions
		if s.NoRopeLayers != nil {
			return s.NoRopeLayers[layer] == 0
		}
		return s.NoRopeInterval > 0 && (layer+1)%s.NoRopeInterval == 0
	},
	weights: llamaNames,
	gguf:    ggufForm{name: "smollm3", pairs: true, skips: 4},
}
