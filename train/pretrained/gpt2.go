package pretrained

import (
	"attention/internal/config"
	"attention/layers"
)

// gpt2 is GPT-2 (Radford et al. 2019). Its config.json is a gpt2Config.
var gpt2 = family{
	name: "gpt2", architecture: "GPT2LMHeadModel", classifier: "GPT2ForSequenceClassification",
	keys: `vocab_size n_positions n_embd n_layer n_head n_kv_head n_inner activation_function layer_norm_epsilon embd_pdrop
		attn_pdrop resid_pdrop tie_word_embeddings bias qkv_bias initializer
		hidden_size max_position_embeddings num_attention_heads num_hidden_layers`,
	refuses: "scale_attn_weights scale_attn_by_inverse_layer_idx add_cross_attention",
	weights: names{prefix: "transformer.", tokens: "transformer.wte.weight", head: "lm_head.weight"},
	gguf:    ggufForm{name: "gpt2", biases: allBiases, packed: true, narrow: true},
}

// gpt2Config is a layers.GPTConfig with the keys of GPT-2's config.json, nanoGPT's bias and n_kv_head.
type gpt2Config struct {
	VocabSize         int     `json:"vocab_size"`
	ContextLength     int     `json:"n_positions"`
	EmbedDim          int     `json:"n_embd"`
	NumLayers         int     `json:"n_layer"`
	NumHeads          int     `json:"n_head"`
	NumKVHeads        int     `json:"n_kv_head,omitempty"`
	DimFeedforward    int     `json:"n_inner,omitempty"`
	Activation        string  `json:"activation_function"`
	Eps               float64 `json:"layer_norm_epsilon"`
	EmbeddingDropout  float64 `json:"embd_pdrop"`
	AttentionDropout  float64 `json:"attn_pdrop"`
	ResidualDropout   float64 `json:"resid_pdrop"`
	TieWordEmbeddings bool    `json:"tie_word_embeddings"`
	Bias              bool    `json:"bias"`
	QKVBias           *bool   `json:"qkv_bias,omitempty"`
	Initializer       string  `json:"initializer,omitempty"`
}

// gptSizes maps other families' names to GPT-2's sizes. If a file has both, transformers uses the other families'
// names.
type gptSizes struct {
	EmbedDim      int `json:"hidden_size"`
	ContextLength int `json:"max_position_embeddings"`
	NumHeads      int `json:"num_attention_heads"`
	NumLayers     int `json:"num_hidden_layers"`
}

// parseGPT reads the keys of GPT-2.
func (c *folderConfig) parseGPT(contents []byte) error {
	g := gpt2Config(layers.GPT2Defaults())
	if err := config.Foreign.Decode(contents, &g); err != nil {
		return err
	}
	sizes := gptSizes{g.EmbedDim, g.ContextLength, g.NumHeads, g.NumLayers}
	if err := config.Foreign.Decode(contents, &sizes); err != nil {
		return err
	}
	g.EmbedDim, g.ContextLength, g.NumHeads, g.NumLayers =
		sizes.EmbedDim, sizes.ContextLength, sizes.NumHeads, sizes.NumLayers
	c.gpt = layers.GPTConfig(g)
	c.decoder = c.gpt.Decoder()
	return config.JSON(config.From(g, c.gpt.Validate(), nil))
}
