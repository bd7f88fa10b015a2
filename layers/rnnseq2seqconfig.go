package layers

import (
	"cmp"

	"attention/internal/config"
)

// RNNSeq2SeqConfig sizes an RNNSeq2Seq.
type RNNSeq2SeqConfig struct {
	SourceVocabSize int `json:"source_vocab_size"`
	TargetVocabSize int `json:"target_vocab_size"` // V
	EmbedDim        int `json:"embed_dim"`         // E
	HiddenSize      int `json:"hidden_size"`       // N, of each direction of the encoder and of the decoder
	// AttnDim is A, the width of the additive attention; 0 means no attention, and the decoder
	// knows the source by one state alone.
	AttnDim int `json:"attn_dim,omitempty"`
}

// Validate returns an error that names the first wrong field.
func (c RNNSeq2SeqConfig) Validate() error { return inLayer("RNNSeq2Seq", c.validate()) }

func (c RNNSeq2SeqConfig) validate() error {
	err := cmp.Or(config.AtLeast(c, 1, "SourceVocabSize", "TargetVocabSize", "EmbedDim", "HiddenSize"),
		config.AtLeast(c, 0, "AttnDim"), config.AtMost(c, maxElements/4, "EmbedDim", "HiddenSize", "AttnDim"))
	if err != nil {
		return err
	}
	err = tablesFit(c, "EmbedDim", c.EmbedDim, size{"SourceVocabSize", c.SourceVocabSize},
		size{"TargetVocabSize", c.TargetVocabSize})
	if err != nil {
		return err
	}
	for _, w := range []struct {
		size
		width int
	}{{size{"TargetVocabSize", c.TargetVocabSize}, c.outputDim()}, {size{"AttnDim", c.AttnDim}, 2 * c.HiddenSize}} {
		if w.number > maxElements/w.width {
			return config.Errorf(c, w.field, "got %d for %s=%d, want at most %d elements in a weight", w.number,
				config.Field("HiddenSize"), c.HiddenSize, maxElements)
		}
	}
	return config.From(c, cmp.Or(c.encoder().validate(), c.decoder().validate()),
		map[string]string{"InputSize": "EmbedDim", "HiddenSize": "HiddenSize"})
}

func (c RNNSeq2SeqConfig) encoder() GRUConfig {
	return GRUConfig{InputSize: c.EmbedDim, HiddenSize: c.HiddenSize, Bias: true, Bidirectional: true}
}

// decoder returns the config of the decoder, whose input is the token before and, with
// attention, the context.
func (c RNNSeq2SeqConfig) decoder() GRUConfig {
	return GRUConfig{InputSize: c.EmbedDim + c.contextDim(), HiddenSize: c.HiddenSize, Bias: true}
}

// contextDim returns the width of the context, which is the encoder's states' or 0.
func (c RNNSeq2SeqConfig) contextDim() int {
	if c.AttnDim == 0 {
		return 0
	}
	return 2 * c.HiddenSize
}

// outputDim returns the width of the vectors that the logits come from.
func (c RNNSeq2SeqConfig) outputDim() int { return c.HiddenSize + c.contextDim() }
