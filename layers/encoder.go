package layers

import (
	"fmt"

	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

// Encoder computes a vector for each token of a text from the whole text: the normalised sum of its embeddings,
// followed by a stack of blocks whose attention sees every token. Depending on its config it is BERT (Devlin et al.
// 2019) or DistilBERT.
type Encoder struct {
	name                     string // in errors
	config                   EncoderConfig
	params                   *Params
	tokens, positions, types *Embedding // types is nil without TypeVocabSize
	norm                     *Norm
	blocks                   []*Block
}

// EncoderInput is the input of an Encoder. All fields except IDs may be nil.
type EncoderInput struct {
	IDs     *G.Node // int or int64 (B, T) or (T)
	Types   *G.Node // of the tokens, int or int64 as IDs; nil means 0 of all
	Lengths *G.Node // number of tokens of each text without padding, int or int64 (B), for IDs (B, T); nil means T
}

// mask hides the padding; nil if there is none.
func (in EncoderInput) mask() mask.Mask {
	if in.Lengths == nil {
		return nil
	}
	return mask.KeyLengths{Lengths: in.Lengths}
}

// NewEncoder makes the parameters, which are named as in transformers' BertModel:
//
//	embeddings.word_embeddings.weight (V, E), embeddings.position_embeddings.weight (ContextLength, E)
//	embeddings.token_type_embeddings.weight (TypeVocabSize, E), embeddings.LayerNorm
//	encoder.layer.0 … of Block, in the layout BERT
//
// Embeddings are drawn from a normal distribution with the deviation 0.02.
func NewEncoder(s Scope, c EncoderConfig) (*Encoder, error) {
	return checked(s, "Encoder", c, newEncoder)
}

func newEncoder(s Scope, given EncoderConfig) (*Encoder, error) {
	c := given.resolved()
	parts := maker{scope: s}
	m := &Encoder{name: s.name("Encoder"), config: given.clone(), params: s.params}
	at := BERT.names()
	m.tokens = part(&parts, at.tokens, newEmbedding, c.table(c.VocabSize))
	m.positions = part(&parts, at.positions, newEmbedding, c.table(c.ContextLength))
	if c.TypeVocabSize > 0 {
		m.types = part(&parts, "embeddings.token_type_embeddings", newEmbedding, c.table(c.TypeVocabSize))
	}
	m.norm = part(&parts, "embeddings.LayerNorm", newNorm, c.Block.Norm)
	m.blocks = stack(&parts, at.blocks, c.NumLayers, newBlock, c.Block)
	return done(&parts, m)
}

// Params returns the set that contains the model's parameters.
func (m *Encoder) Params() *Params { return m.params }

// Config returns the config that the model was made from.
func (m *Encoder) Config() EncoderConfig { return m.config.clone() }

// Forward returns the vectors (…, T, E) of tokens. The vectors of padding have no meaning. The build's
// Calls("encoder.layer.*.attention") have the attention weights (…, H, T, T), a call for each block.
func (m *Encoder) Forward(b *Build, in EncoderInput) (*G.Node, error) {
	f := begin(b, m.name)
	return f.result(m.vectors(f, in))
}

// vectors is Forward as a step of a formula.
func (m *Encoder) vectors(f *formula, in EncoderInput) *G.Node {
	if !f.isIDs("ids", in.IDs, m.config.ContextLength) {
		return f.Of(nil, nil)
	}
	x := f.stage("tokens", "row of "+short(m.tokens.weight), m.tokens.apply(f, in.IDs)) // (…, T, E)
	positions := f.Of(graph.Rows(f.node(m.positions.weight), 0, last(in.IDs)))          // (T, E)
	f.stage("positions", "row of "+short(m.positions.weight), positions)
	text := "tokens + positions"
	sum := f.Of(graph.Add(x, positions))
	switch {
	case in.Types != nil && m.types == nil:
		f.fail(errorf(m.name, "types: got them without TypeVocabSize, want nil"))
	case in.Types != nil && !in.Types.Shape().Eq(in.IDs.Shape()):
		f.fail(errorf(m.name, "types: shape %v, want %v as of ids", in.Types.Shape(), in.IDs.Shape()))
	case in.Types != nil:
		types := m.types.apply(f, in.Types) // (…, T, E)
		f.stage("types", "row of "+short(m.types.weight), types)
		sum, text = f.Of(graph.Add(sum, types)), text+" + types"
	case m.types != nil:
		types := f.Of(graph.Rows(f.node(m.types.weight), 0, 1)) // (1, E), all of type 0
		f.stage("types", "row 0 of "+short(m.types.weight), types)
		sum, text = f.Of(graph.Add(sum, types)), text+" + types"
	}
	x = f.normed(m.norm, "embedded", "embeddings", f.stage("embeddings", text, sum))
	x = f.dropout(x, m.config.EmbeddingDropout)
	for _, block := range m.blocks {
		x = f.Of(block.Forward(f.b, AttentionInput{Query: x, Mask: in.mask()}))
	}
	return x
}

// Pooling is a way to combine the vectors of a text's tokens into one vector.
type Pooling string

// The kinds of Pooling, by sentence-transformers' names.
const (
	MeanPooling  Pooling = "mean" // their mean, without padding
	FirstPooling Pooling = "cls"  // the first token's
	MaxPooling   Pooling = "max"  // the largest of each column, without padding
)

// Embedding returns a vector (…, E) for each text, pooled from the vectors of its tokens; normalize divides it by its
// length (torch.nn.functional.normalize).
func (m *Encoder) Embedding(b *Build, in EncoderInput, p Pooling, normalize bool) (*G.Node, error) {
	f := begin(b, m.name)
	x := m.vectors(f, in)
	switch p {
	case MeanPooling:
		x = f.Of(graph.MaskedMean(x, in.mask()))
	case MaxPooling:
		x = f.Of(graph.MaskedMax(x, in.mask()))
	case FirstPooling:
		x = f.Of(graph.FirstRow(x))
	default:
		f.fail(errorf(m.name, "pooling: got %q, want one of %s, %s, %s", p, MeanPooling, FirstPooling, MaxPooling))
	}
	if normalize {
		x = f.normalized(x, m.config.width())
	}
	return f.result(f.stage("embedding", fmt.Sprintf("%s of tokens", p), x))
}
