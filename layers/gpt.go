package layers

// NewGPT makes a Decoder that is GPT-2 (Radford et al. 2019): with token and position embeddings, and blocks with the
// norms before the parts. Its parameters are those of GPT-2's state_dict:
//
//	transformer.wte.weight (V, E), transformer.wpe.weight (ContextLength, E)
//	transformer.h.0.ln_1.weight (E)
//	transformer.h.0.attn.c_attn.weight (E, E + 2·K·D), transformer.h.0.attn.c_proj.weight (E, E)
//	transformer.h.0.ln_2.weight (E)
//	transformer.h.0.mlp.c_fc.weight (E, F), transformer.h.0.mlp.c_proj.weight (F, E)
//	…
//	transformer.ln_f.weight (E)
//	lm_head.weight (V, E), unless TieWordEmbeddings
//
// and, with Bias, the .bias of each norm and each linear layer under transformer.h; c_attn has
// one if QKVBias says so. D is E/H and F is DimFeedforward; with as many key/value heads as
// heads c_attn.weight is (E, 3E). Weights are drawn from a normal distribution with the
// deviation 0.02, both c_proj with 0.02/√(2·NumLayers); norms begin with 1, biases with 0.
// With the Initializer torch, embeddings are drawn with the deviation 1, and the weights and
// biases of all other products are uniform within ±1/√in, in the order of a model with an nn.Linear
// for each of queries, keys and values.
func NewGPT(s Scope, c GPTConfig) (*Decoder, error) { return checked(s, "GPT", c, newGPT) }

func newGPT(s Scope, c GPTConfig) (*Decoder, error) {
	m, err := newDecoder(s, c.Decoder())
	if err == nil {
		m.name = s.name("GPT")
	}
	return m, err
}
