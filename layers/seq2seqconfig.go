package layers

import "attention/graph/mask"

// Seq2SeqConfig sizes a Seq2Seq.
type Seq2SeqConfig struct {
	SourceVocab   int        `json:"source_vocab"`
	TargetVocab   int        `json:"target_vocab"`         // V
	Context       int        `json:"context"`              // the longest source and target
	Width         int        `json:"width"`                // E
	EncoderLayers int        `json:"encoder_layers"`       // blocks of the encoder
	DecoderLayers int        `json:"decoder_layers"`       // blocks of the decoder
	NumHeads      int        `json:"num_heads"`            // H, a divisor of Width
	NumKVHeads    int        `json:"num_kv_heads"`         // K, a divisor of NumHeads; 0 means H
	Hidden        int        `json:"hidden"`               // width within the MLPs; 0 means 4·Width
	Activation    Activation `json:"activation,omitempty"` // of the MLPs; empty means GELU
	PostNorm      bool       `json:"post_norm"`            // norms come after the sums, as in Vaswani et al. 2017
	Shared        bool       `json:"shared"`               // source and target have one vocabulary and one table of embeddings
	Tied          bool       `json:"tied"`                 // the target's embeddings give the scores, too

	// Sinusoidal positions are added to embeddings times √E, as in Vaswani et al. 2017,
	// instead of learned ones to the embeddings themselves.
	Sinusoidal bool `json:"sinusoidal"`

	Dropout float64 `json:"dropout"` // wherever nn.Transformer has it, and of the embeddings; in Train graphs
}

// Validate returns an error that names the first wrong field.
func (c Seq2SeqConfig) Validate() error {
	const layer = "Seq2Seq"
	err := atLeastOne(layer, size{"SourceVocab", c.SourceVocab}, size{"TargetVocab", c.TargetVocab}, size{"Context", c.Context},
		size{"Width", c.Width}, size{"EncoderLayers", c.EncoderLayers}, size{"DecoderLayers", c.DecoderLayers}, size{"NumHeads", c.NumHeads})
	if err != nil {
		return err
	}
	if n := max(c.EncoderLayers, c.DecoderLayers); n > maxBlocks {
		return errorf(layer, "EncoderLayers, DecoderLayers: got %d, want at most %d", n, maxBlocks)
	}
	err = tableFits(layer, size{"Width", c.Width}, size{"SourceVocab", c.SourceVocab}, size{"TargetVocab", c.TargetVocab},
		size{"Context", c.Context})
	if err != nil {
		return err
	}
	if c.Shared && c.SourceVocab != c.TargetVocab {
		return errorf(layer, "TargetVocab: got %d, want SourceVocab=%d, since embeddings are shared", c.TargetVocab, c.SourceVocab)
	}
	if c.Sinusoidal && c.Width%2 != 0 {
		return errorf(layer, "Width: got %d, want an even one for sinusoidal positions", c.Width)
	}
	return within(layer+": block", c.decoder().Validate())
}

// encoder is the config of each block of the encoder, which sees all of the source.
func (c Seq2SeqConfig) encoder() BlockConfig {
	return BlockConfig{
		Attention: AttentionConfig{Width: c.Width, NumHeads: c.NumHeads, NumKVHeads: c.NumKVHeads, Layout: Torch,
			QKVBias: true, OutBias: true, Dropout: c.Dropout, OutDropout: c.Dropout},
		MLP:      MLPConfig{Hidden: c.Hidden, Activation: c.Activation, Bias: true, Dropout: c.Dropout, HiddenDropout: c.Dropout},
		Norm:     c.norm(),
		PostNorm: c.PostNorm,
	}
}

// decoder is the config of each block of the decoder, in which no token sees a later one.
func (c Seq2SeqConfig) decoder() DecoderBlockConfig {
	block := c.encoder()
	block.Attention.Mask = mask.Causal{}
	return DecoderBlockConfig{Block: block}
}

func (c Seq2SeqConfig) norm() NormConfig { return NormConfig{Width: c.Width, Bias: true} }
