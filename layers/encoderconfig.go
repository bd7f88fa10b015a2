package layers

import (
	"cmp"

	"attention/graph/mask"
	"attention/internal/config"
)

// EncoderConfig configures an Encoder. TypeVocabSize and EmbeddingDropout may be zero.
type EncoderConfig struct {
	VocabSize     int `json:"vocab_size"`                // V
	ContextLength int `json:"context_length"`            // the longest sequence
	TypeVocabSize int `json:"type_vocab_size,omitempty"` // types of tokens: 2 in BERT, for pairs of texts; 0 in DistilBERT
	NumLayers     int `json:"num_layers"`                // blocks, at most 65536
	// Block configures each block. A zero Attention.Layout means BERT, a zero NormPlacement PostNorm, and a nil
	// Attention.Mask shows all tokens.
	Block            BlockConfig `json:"block"`
	EmbeddingDropout float64     `json:"embedding_dropout,omitempty"` // of the embeddings, in Train graphs
}

// Validate returns an error that names the first wrong field.
func (c EncoderConfig) Validate() error { return inLayer("Encoder", c.validate()) }

func (c EncoderConfig) validate() error {
	c = c.resolved()
	err := cmp.Or(config.AtLeast(c, 1, "VocabSize", "ContextLength", "NumLayers"), config.AtLeast(c, 0, "TypeVocabSize"),
		config.AtMost(c, maxBlocks, "NumLayers"), config.AtMost(c, maxElements, "ContextLength"),
		config.Probability(c, "EmbeddingDropout"), config.In(c, "Block", c.Block.validate()))
	if err != nil {
		return err
	}
	if c.Block.Attention.Layout != BERT {
		return config.Errorf(c, "Block.Attention.Layout", "got %q, want %q or none", c.Block.Attention.Layout, BERT)
	}
	return tablesFit(c, "Block.Attention.EmbedDim", c.width(), size{"VocabSize", c.VocabSize},
		size{"ContextLength", c.ContextLength}, size{"TypeVocabSize", c.TypeVocabSize})
}

// resolved returns c with zeros replaced by their defaults.
func (c EncoderConfig) resolved() EncoderConfig {
	c = c.clone()
	a := &c.Block.Attention
	a.Layout = cmp.Or(a.Layout, BERT)
	if a.Mask == nil {
		a.Mask = mask.All{}
	}
	c.Block.NormPlacement = cmp.Or(c.Block.NormPlacement, PostNorm)
	c.Block = c.Block.resolved()
	return c
}

// clone returns a config that shares no attention with c.
func (c EncoderConfig) clone() EncoderConfig {
	c.Block.Attention, c.Block.Linear = c.Block.Attention.clone(), copied(c.Block.Linear)
	return c
}

// width returns E.
func (c EncoderConfig) width() int { return c.Block.Attention.EmbedDim }

// table returns the config of an embedding of rows ids.
func (c EncoderConfig) table(rows int) EmbeddingConfig {
	return EmbeddingConfig{NumEmbeddings: rows, EmbeddingDim: c.width(), std: 0.02}
}
