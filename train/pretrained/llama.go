package pretrained

import "attention/layers"

// llama is Llama 2 and 3 (Touvron et al. 2023, Grattafiori et al. 2024), SmolLM, SmolLM 2 and TinyLlama.
var llama = family{
	name: "llama", architecture: "LlamaForCausalLM", classifier: "LlamaForSequenceClassification",
	keys: sharedKeys + `
		num_key_value_heads head_dim hidden_act rms_norm_eps attention_bias mlp_bias rope_theta`,
	absent:  settings{HiddenAct: "silu", RMSNormEps: 1e-6, RopeTheta: 10000},
	block:   rmsBlock,
	weights: llamaNames,
	gguf:    llamaForm,
}

// llamaForm is llama.cpp's form of Llama and Mistral.
var llamaForm = ggufForm{name: "llama", pairs: true}

// rmsBlock is the block of Llama and similar families.
var rmsBlock = layers.BlockConfig{
	MLP:  layers.MLPConfig{Activation: layers.SwiGLU},
	Norm: layers.NormConfig{Kind: layers.RMSNorm},
}
