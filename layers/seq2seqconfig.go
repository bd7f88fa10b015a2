package layers

import (
	"cmp"

	"attention/graph/mask"
	"attention/internal/config"
)

// Seq2SeqConfig sizes a Seq2Seq.
type Seq2SeqConfig struct {
	SourceVocabSize  int        `json:"source_vocab_size"`
	TargetVocabSize  int        `json:"target_vocab_size"`    // V
	ContextLength    int        `json:"context_length"`       // the longest source and target
	EmbedDim         int        `json:"embed_dim"`            // E
	NumEncoderLayers int        `json:"num_encoder_layers"`   // blocks of the encoder, at most 65536
	NumDecoderLayers int        `json:"num_decoder_layers"`   // blocks of the decoder, at most 65536
	NumHeads         int        `json:"num_heads"`            // H, a divisor of EmbedDim
	NumKVHeads       int        `json:"num_kv_heads"`         // K, a divisor of NumHeads; 0 means H
	DimFeedforward   int        `json:"dim_feedforward"`      // width within the MLPs; 0 means 4·EmbedDim
	Activation       Activation `json:"activation,omitempty"` // of the MLPs; empty means GELU
	PostNorm         bool       `json:"post_norm"`            // norms come after the sums, as in Vaswani et al. 2017

	ShareEmbeddings   bool `json:"share_embeddings"`    // source and target have one vocabulary and one table of embeddings
	TieWordEmbeddings bool `json:"tie_word_embeddings"` // the target's embeddings give the scores, too

	// Sinusoidal adds fixed positions to embeddings times √E, as in Vaswani et al. 2017, instead
	// of learned positions to the embeddings themselves.
	Sinusoidal bool `json:"sinusoidal"`

	Dropout float64 `json:"dropout"` // wherever nn.Transformer has it, and of the embeddings; in Train graphs
}

// Validate returns an error that names the first wrong field.
func (c Seq2SeqConfig) Validate() error { return inLayer("Seq2Seq", c.validate()) }

func (c Seq2SeqConfig) validate() error {
	err := cmp.Or(config.AtLeast(c, 1, "SourceVocabSize", "TargetVocabSize", "ContextLength", "EmbedDim",
		"NumEncoderLayers", "NumDecoderLayers", "NumHeads"), config.Probability(c, "Dropout"),
		config.AtMost(c, maxBlocks, "NumEncoderLayers", "NumDecoderLayers"))
	if err != nil {
		return err
	}
	err = tablesFit(c, "EmbedDim", c.EmbedDim, size{"SourceVocabSize", c.SourceVocabSize},
		size{"TargetVocabSize", c.TargetVocabSize}, size{"ContextLength", c.ContextLength})
	if err != nil {
		return err
	}
	if c.ShareEmbeddings && c.SourceVocabSize != c.TargetVocabSize {
		return config.Errorf(c, "TargetVocabSize", "got %d, want %s=%d, since embeddings are shared", c.TargetVocabSize,
			config.Field("SourceVocabSize"), c.SourceVocabSize)
	}
	if c.Sinusoidal && c.EmbedDim%2 != 0 {
		return config.Errorf(c, "EmbedDim", "got %d, want an even one for sinusoidal positions", c.EmbedDim)
	}
	return config.From(c, c.decoder().validate(), map[string]string{
		"Block.Attention.NumHeads": "NumHeads", "Block.Attention.NumKVHeads": "NumKVHeads",
		"Block.Attention.EmbedDim": "EmbedDim", "Block.Attention.OutDim": "EmbedDim", "Block.MLP.EmbedDim": "EmbedDim",
		"Block.MLP.DimFeedforward": "DimFeedforward", "Block.MLP.Activation": "Activation",
	})
}

// encoder returns the config of each block of the encoder, which sees all of the source.
func (c Seq2SeqConfig) encoder() BlockConfig {
	b := torchBlock(c.norm(), c.NumHeads, c.NumKVHeads, c.DimFeedforward, c.Activation, c.Dropout)
	if c.PostNorm {
		b.NormPlacement = PostNorm
	}
	return b
}

// torchBlock returns the config of a block that is nn.TransformerEncoderLayer's, of the width of its norm.
func torchBlock(norm NormConfig, heads, kvHeads, hidden int, a Activation, dropout float64) BlockConfig {
	return BlockConfig{
		Attention: AttentionConfig{EmbedDim: norm.EmbedDim, NumHeads: heads, NumKVHeads: kvHeads, Layout: Torch,
			QKVBias: true, OutBias: true, Dropout: dropout, OutDropout: dropout},
		MLP:  MLPConfig{DimFeedforward: hidden, Activation: a, Bias: true, Dropout: dropout, HiddenDropout: dropout},
		Norm: norm,
	}
}

// decoder returns the config of each block of the decoder, in which no token sees a later
// token.
func (c Seq2SeqConfig) decoder() DecoderBlockConfig {
	block := c.encoder()
	block.Attention.Mask = mask.Causal{}
	return DecoderBlockConfig{Block: block}
}

func (c Seq2SeqConfig) norm() NormConfig { return NormConfig{EmbedDim: c.EmbedDim, Bias: true} }
