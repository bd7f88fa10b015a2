package layers

import (
	"cmp"
	"fmt"
	"slices"

	"attention/graph/mask"
	"attention/internal/config"
)

// DecoderConfig configures a Decoder. All fields except the first three and Blocks may be zero.
type DecoderConfig struct {
	VocabSize     int `json:"vocab_size"`     // V
	ContextLength int `json:"context_length"` // the longest sequence
	NumLayers     int `json:"num_layers"`     // number of blocks, at most 65536
	// Blocks are the kinds of blocks. All of them have the same width E, their Attention.EmbedDim. A zero Attention.Layout
	// is the Layout below, and a nil Attention.Mask is mask.Causal. A model needs several kinds if only some of its layers
	// have windows or positions, for example.
	Blocks []BlockConfig `json:"blocks"`
	// Pattern is the kind of each layer: layer i is Blocks[Pattern[i%len(Pattern)]]. Nil means Blocks[0] for all
	// layers; the pattern of Gemma 3 is 0, 0, 0, 0, 0, 1.
	Pattern []int      `json:"pattern,omitempty"`
	Norm    NormConfig `json:"norm,omitzero"` // the last norm; zero means that of Blocks[0]

	LearnedPositions bool    `json:"learned_positions,omitempty"` // added to the embeddings of tokens, as in GPT-2
	EmbeddingScale   float64 `json:"embedding_scale,omitempty"`   // of the embeddings of tokens (Gemma: √E); 0 means 1
	EmbeddingDropout float64 `json:"embedding_dropout,omitempty"` // dropout of the embeddings, in Train graphs
	LogitScale       float64 `json:"logit_scale,omitempty"`       // of the logits (Granite, Cohere); 0 means 1
	LogitSoftcap     float64 `json:"logit_softcap,omitempty"`     // limits logits to ±LogitSoftcap (Gemma 2); 0: no cap

	TieWordEmbeddings bool   `json:"tie_word_embeddings,omitempty"` // the token embeddings are also the output head
	Layout            Layout `json:"layout,omitempty"`              // of the parameters: GPT2 or Llama; zero means Llama
	// Initializer selects the initial values: gpt2 means those of the layout, torch those of a GPT made of PyTorch's
	// modules; empty means gpt2.
	Initializer string `json:"initializer,omitempty"`
}

// Validate returns an error that names the first wrong field.
func (c DecoderConfig) Validate() error { return inLayer("Decoder", c.validate()) }

func (c DecoderConfig) validate() error {
	err := cmp.Or(config.AtLeast(c, 1, "VocabSize", "ContextLength", "NumLayers"),
		config.AtMost(c, maxBlocks, "NumLayers"), config.AtMost(c, maxElements, "ContextLength"),
		config.OneOf(c, "Layout", cmp.Or(c.Layout, Llama), GPT2, Llama), config.Probability(c, "EmbeddingDropout"),
		c.validateBlocks(), config.AtLeast(c, 0, "EmbeddingScale", "LogitScale", "LogitSoftcap"),
		config.OneOf(c, "Initializer", cmp.Or(c.Initializer, GPT2Initializer), GPT2Initializer, TorchInitializer))
	if err != nil {
		return err
	}
	const width = "Blocks[0].Attention.EmbedDim"
	r := c.resolved()
	tables := []size{{"VocabSize", c.VocabSize}}
	if c.LearnedPositions {
		tables = append(tables, size{"ContextLength", c.ContextLength})
	}
	if _, isGPT := c.GPT(); c.Initializer == TorchInitializer && !isGPT {
		return config.Errorf(c, "Initializer", "got %q, which only a GPT has, want %q", TorchInitializer, GPT2Initializer)
	}
	return cmp.Or(tablesFit(c, width, r.width(), tables...),
		widthsAgree(c, width, r.width(), size{"Norm.EmbedDim", r.Norm.EmbedDim}), config.In(c, "Norm", r.Norm.validate()))
}

// validateBlocks checks the kinds of blocks and the pattern of them.
func (c DecoderConfig) validateBlocks() error {
	if len(c.Blocks) == 0 {
		return config.Errorf(c, "Blocks", "got none, want at least one kind")
	}
	for i, kind := range c.Pattern {
		if kind < 0 || kind >= len(c.Blocks) {
			return config.Errorf(c, fmt.Sprintf("Pattern[%d]", i), "got %d, want 0 to %d, one of %s", kind, len(c.Blocks)-1,
				config.Field("Blocks"))
		}
	}
	r := c.resolved()
	for i, b := range r.Blocks {
		field := fmt.Sprintf("Blocks[%d]", i)
		if err := b.validate(); err != nil {
			return config.In(c, field, err)
		}
		if b.Attention.Layout != r.Layout {
			return config.Errorf(c, field+".Attention.Layout", "got %q, want %s=%q, or none", b.Attention.Layout,
				config.Field("Layout"), r.Layout)
		}
		own := size{field + ".Attention.EmbedDim", b.Attention.EmbedDim}
		if err := widthsAgree(c, "Blocks[0].Attention.EmbedDim", r.width(), own); err != nil {
			return err
		}
	}
	return nil
}

// resolved returns c with zeros replaced by their defaults, for at least one kind of blocks.
func (c DecoderConfig) resolved() DecoderConfig {
	c = c.clone()
	c.Layout = cmp.Or(c.Layout, Llama)
	for i, b := range c.Blocks {
		b.Attention.Layout = cmp.Or(b.Attention.Layout, c.Layout)
		if b.Attention.Mask == nil {
			b.Attention.Mask = mask.Causal{}
		}
		c.Blocks[i] = b.resolved()
	}
	if c.Norm == (NormConfig{}) {
		c.Norm = c.Blocks[0].Norm
	}
	c.Norm.EmbedDim = cmp.Or(c.Norm.EmbedDim, c.width())
	return c
}

// clone returns a config that shares no list and no attention with c.
func (c DecoderConfig) clone() DecoderConfig {
	c.Blocks, c.Pattern = slices.Clone(c.Blocks), slices.Clone(c.Pattern)
	for i, b := range c.Blocks {
		c.Blocks[i].Attention, c.Blocks[i].Linear = b.Attention.clone(), copied(b.Linear)
	}
	return c
}

// Block returns the config of layer i, counted from 0; the zero config if there is none.
func (c DecoderConfig) Block(i int) BlockConfig {
	kind := 0
	if n := len(c.Pattern); n > 0 && i >= 0 {
		kind = c.Pattern[i%n]
	}
	if i < 0 || i >= c.NumLayers || kind < 0 || kind >= len(c.Blocks) {
		return BlockConfig{}
	}
	b := c.Blocks[kind]
	if d := b.Attention.Differential; d != nil && d.LambdaInit == 0 {
		b.Attention.Differential = &DifferentialConfig{LambdaInit: lambdaInit(i)}
	}
	return b
}

// width returns E.
func (c DecoderConfig) width() int { return c.Blocks[0].Attention.EmbedDim }

// table returns the config of an embedding of rows ids.
func (c DecoderConfig) table(rows int) EmbeddingConfig {
	return EmbeddingConfig{NumEmbeddings: rows, EmbeddingDim: c.width(), std: 0.02}
}
