// Package dates is an example of layers.Seq2Seq: an encoder and a decoder that translate written dates to ISO 8601. It
// has the pairs for training and the translator.
package dates

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"attention/internal/config"
	"attention/internal/dense"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Config sets the sizes of a model.
type Config struct {
	EmbedDim  int `json:"embed_dim"`  // E, width of the embeddings and blocks
	NumHeads  int `json:"num_heads"`  // H, heads of every attention, a divisor of EmbedDim
	NumLayers int `json:"num_layers"` // L, number of blocks of the encoder, and of the decoder
}

// MaxElements is the largest number of elements of a tensor of a training step: 512 MB in float32, and a step has
// several such tensors.
const MaxElements = 1 << 27

// Validate returns an error for the first wrong field.
func (c Config) Validate() error {
	if err := config.AtLeast(c, 1, "EmbedDim", "NumHeads", "NumLayers"); err != nil {
		return err
	}
	if c.EmbedDim%c.NumHeads != 0 {
		return config.Errorf(c, "NumHeads", "got %d, want a divisor of %s=%d", c.NumHeads,
			config.Field("EmbedDim"), c.EmbedDim)
	}
	if e := float64(c.EmbedDim); 28*e*e*float64(c.NumLayers) > MaxElements { // as floats they do not overflow
		return config.Errorf(c, "EmbedDim", "got %d, which with %s=%d makes %.3g weights, want at most %d",
			c.EmbedDim, config.Field("NumLayers"), c.NumLayers, 28*e*e*float64(c.NumLayers), MaxElements)
	}
	return nil
}

// String describes the model.
func (c Config) String() string {
	heads := "heads"
	if c.NumHeads == 1 {
		heads = "head"
	}
	return fmt.Sprintf("width %d, %d %s, blocks %d + %d", c.EmbedDim, c.NumHeads, heads, c.NumLayers, c.NumLayers)
}

// Model is an encoder and a decoder of dates.
type Model struct {
	Alphabets
	*layers.Seq2Seq
}

// New makes a model and its parameters.
func New(s layers.Scope, c Config) (*Model, error) {
	a, err := NewAlphabets()
	if err != nil {
		return nil, err
	}
	network, err := layers.NewSeq2Seq(s, layers.Seq2SeqConfig{
		SourceVocabSize:  a.Written.Len(),
		TargetVocabSize:  a.ISO.Len() + 1, // and the begin mark
		ContextLength:    max(WrittenLength, ISOLength),
		EmbedDim:         c.EmbedDim,
		NumEncoderLayers: c.NumLayers,
		NumDecoderLayers: c.NumLayers,
		NumHeads:         c.NumHeads,
	})
	return &Model{a, network}, err
}

// Loss is the mean cross entropy of the characters of ISO dates.
func (m *Model) Loss(b *layers.Build, in layers.Inputs) []*G.Node {
	return b.Nodes(m.Seq2Seq.Loss(b, in[SourceInput], in[TargetInput], in[LengthsInput], in[TargetsInput]))
}

// Logits builds the network's logits ([B,] T, V) of ISO dates, of source ids ([B,] S), target ids ([B,] T) that begin
// with the mark and, in a batch, lengths (B) of the source.
func (m *Model) Logits(b *layers.Build, in layers.Inputs) *G.Node {
	return b.Of(m.Forward(b, in[SourceInput], in[TargetInput], in[LengthsInput]))
}

// Values returns the inputs of Logits for one pair: source ids (S) and target ids (T = ISOLength).
func (m *Model) Values(p Pair) (layers.Values, error) {
	batch := NewBatch(m.Alphabets, 1)
	if _, err := batch.Fill([]Pair{p}); err != nil {
		return nil, err
	}
	n := batch.Lengths[0]
	return layers.Values{SourceInput: tensor.New(tensor.WithShape(n), tensor.WithBacking(batch.Source[:n])),
		TargetInput: tensor.New(tensor.WithShape(ISOLength), tensor.WithBacking(batch.Target))}, nil
}

// CrossAttention matches the paths of the decoder's cross-attentions.
const CrossAttention = "*.multihead_attn"

// CrossWeights returns the cross-attention weights (T, S) of each head of the decoder's last block: from each character
// of the ISO date to each character of the written date.
func (m *Model) CrossWeights(p Pair) (heads [][]float64, err error) {
	v, err := m.Values(p)
	if err != nil {
		return nil, err
	}
	f, err := layers.NewFunc(m.Params(), func(b *layers.Build, in layers.Inputs) []*G.Node {
		m.Logits(b, in)
		calls := b.Calls(CrossAttention)
		return b.Nodes(calls[len(calls)-1].Weights()) // (H, T, S)
	}, layers.FuncConfig{})
	if err != nil {
		return nil, err
	}
	weights, err := f.Call(context.Background(), v)
	if err != nil {
		return nil, err
	}
	return slices.Collect(slices.Chunk(dense.Float64s(weights[0]), ISOLength*utf8.RuneCountInString(p.Written))), nil
}
