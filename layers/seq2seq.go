package layers

import (
	"cmp"
	"math"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
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

// Seq2Seq is the encoder–decoder of Vaswani et al. 2017: blocks that see all of a source
// turn it into a memory; blocks that attend to the memory and to the target's tokens so far
// score the next one.
type Seq2Seq struct {
	name                             string // in errors
	config                           Seq2SeqConfig
	params                           *Params
	source, target                   *Embedding
	sourcePositions, targetPositions *Embedding // nil if sinusoidal
	encoder                          []*Block
	decoder                          []*DecoderBlock
	encoderNorm, decoderNorm         *Norm
	output                           *Linear // nil if tied
}

// NewSeq2Seq makes the parameters
//
//	source.weight (SourceVocabSize, E), target.weight (V, E), or shared embedding.weight
//	source_positions.weight, target_positions.weight (ContextLength, E), unless sinusoidal
//	transformer.encoder.layers.0 … of Block, transformer.encoder.norm
//	transformer.decoder.layers.0 … of DecoderBlock, transformer.decoder.norm
//	output.weight (V, E), output.bias (V), unless tied
//
// Those under transformer are named as in nn.Transformer's state_dict. Embeddings are
// drawn from a normal distribution with the deviation 1/√E.
func NewSeq2Seq(s Scope, c Seq2SeqConfig) (*Seq2Seq, error) {
	return checked(s, "Seq2Seq", c, newSeq2Seq)
}

func newSeq2Seq(s Scope, c Seq2SeqConfig) (*Seq2Seq, error) {
	parts := maker{scope: s}
	m := &Seq2Seq{name: s.name("Seq2Seq"), config: c, params: s.params}
	m.makeTables(&parts)
	m.encoder = stack(&parts, "transformer.encoder.layers", c.NumEncoderLayers, newBlock, c.encoder())
	m.decoder = stack(&parts, "transformer.decoder.layers", c.NumDecoderLayers, newDecoderBlock, c.decoder())
	m.encoderNorm = part(&parts, "transformer.encoder.norm", newNorm, c.norm())
	m.decoderNorm = part(&parts, "transformer.decoder.norm", newNorm, c.norm())
	if !c.TieWordEmbeddings {
		m.output = part(&parts, "output", newLinear,
			LinearConfig{InFeatures: c.EmbedDim, OutFeatures: c.TargetVocabSize, Bias: true})
	}
	return done(&parts, m)
}

// makeTables makes the embeddings of tokens and positions.
func (m *Seq2Seq) makeTables(parts *maker) {
	c := m.config
	table := func(name string, rows int) *Embedding { return scaledTable(parts, name, rows, c.EmbedDim) }
	if c.ShareEmbeddings {
		m.source = table("embedding", c.SourceVocabSize)
		m.target = m.source
	} else {
		m.source = table("source", c.SourceVocabSize)
		m.target = table("target", c.TargetVocabSize)
	}
	if !c.Sinusoidal {
		m.sourcePositions = table("source_positions", c.ContextLength)
		m.targetPositions = table("target_positions", c.ContextLength)
	}
}

// Params returns the set of parameters that the model was made in.
func (m *Seq2Seq) Params() *Params { return m.params }

// Config returns the config that the model was made from.
func (m *Seq2Seq) Config() Seq2SeqConfig { return m.config }

// Forward maps the ids of source (B, S) and target (B, T), int or int64, to the logits
// (B, T, V) of the tokens that follow each of target's. lengths, int or int64 (B), hide
// the padding that follows the first lengths[b] tokens of source b; nil means there is
// none. A single pair may come without B.
func (m *Seq2Seq) Forward(b *Build, source, target, lengths *G.Node) (*G.Node, error) {
	f := begin(b, m.name)
	memory := f.Of(m.Encode(b, source, lengths)) // (B, S, E)
	return f.result(f.Of(m.Decode(b, target, memory, lengths)))
}

// Loss returns the mean cross entropy of the logits for target, in nats: a scalar. targets
// are ids of target's shape; a target that is graph.IgnoreTarget does not count.
func (m *Seq2Seq) Loss(b *Build, source, target, lengths, targets *G.Node) (*G.Node, error) {
	f := begin(b, m.name)
	return f.crossEntropy(f.Of(m.Forward(b, source, target, lengths)), targets)
}

// Encode maps the ids of source (…, S) to a memory (…, S, E).
func (m *Seq2Seq) Encode(b *Build, source, lengths *G.Node) (*G.Node, error) {
	f := begin(b, m.name)
	if !f.isIDs("source", source, m.config.ContextLength) {
		return f.result(nil)
	}
	x := m.embed(f, source, m.source, m.sourcePositions) // (…, S, E)
	for _, block := range m.encoder {
		x = f.Of(block.Forward(b, AttentionInput{Query: x, Mask: unpadded(lengths)}))
	}
	return f.result(f.Of(m.encoderNorm.Forward(b, x)))
}

// Decode maps the ids of target (…, T) and Encode's memory of the source to logits
// (…, T, V). lengths are the source's. The build's Calls("*.multihead_attn") have the weights
// (…, H, T, S) with which the target attends to the memory, a call for each block.
func (m *Seq2Seq) Decode(b *Build, target, memory, lengths *G.Node) (*G.Node, error) {
	f := begin(b, m.name)
	if !f.isIDs("target", target, m.config.ContextLength) {
		return f.result(nil)
	}
	x := m.embed(f, target, m.target, m.targetPositions) // (…, T, E)
	for _, block := range m.decoder {
		x = f.Of(block.Forward(b, x, memory, nil, unpadded(lengths)))
	}
	x = f.Of(m.decoderNorm.Forward(b, x))
	if m.output != nil {
		return f.result(f.Of(m.output.Forward(b, x)))
	}
	return f.result(f.Of(f.b.precision.Linear(x, f.node(m.target.weight), nil)))
}

// unpadded returns the mask that hides padding.
func unpadded(lengths *G.Node) mask.Mask {
	if lengths == nil {
		return nil
	}
	return mask.KeyLengths{Lengths: lengths}
}

// embed returns token plus position: (…, T, E).
func (m *Seq2Seq) embed(f *formula, ids *G.Node, table, positions *Embedding) *G.Node {
	x := table.apply(f, ids) // (…, T, E)
	if m.config.Sinusoidal {
		x = f.Of(graph.Scale(x, math.Sqrt(float64(m.config.EmbedDim))))
		x = f.Of(graph.AddSinusoidal(x, nil))
	} else {
		x = f.Of(graph.Add(x, f.Of(graph.Rows(f.node(positions.weight), 0, last(ids)))))
	}
	return f.dropout(x, m.config.Dropout)
}
