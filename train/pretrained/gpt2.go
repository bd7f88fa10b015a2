package pretrained

// gpt2 is GPT-2 (Radford et al. 2019). Its config.json is a layers.GPTConfig.
var gpt2 = family{
	name: "gpt2", architecture: "GPT2LMHeadModel", classifier: "GPT2ForSequenceClassification",
	keys: `vocab_size n_positions n_embd n_layer n_head n_kv_head n_inner activation_function layer_norm_epsilon embd_pdrop
		attn_pdrop resid_pdrop tie_word_embeddings bias qkv_bias initializer
		hidden_size max_position_embeddings num_attention_heads num_hidden_layers`,
	refuses: "scale_attn_weights scale_attn_by_inverse_layer_idx add_cross_attention",
	weights: names{prefix: "transformer.", tokens: "transformer.wte.weight", head: "lm_head.weight"},
	gguf:    ggufForm{name: "gpt2", biases: allBiases, packed: true, narrow: true},
}
