// Package dates is an example of layers.Seq2Seq: an encoder and a decoder that translate dates as people write them into
// ISO 8601, the pairs that they learn from, and how they write.
package dates

import (
	"fmt"

	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Config sizes a model and its batches.
type Config struct {
	Width  int // of the embeddings and blocks, all heads together
	Heads  int // of every attention, a divisor of Width
	Blocks int // of the encoder, and of the decoder
	Batch  int // pairs
}

// Model is an encoder and a decoder of dates.
type Model struct {
	Alphabets
	Config  Config
	Params  *layers.Params
	Network *layers.Seq2Seq
}

// New makes a model and its parameters.
func New(p *layers.Params, c Config) (*Model, error) {
	m := &Model{Config: c, Params: p}
	var err error
	if m.Alphabets, err = NewAlphabets(); err != nil {
		return nil, err
	}
	m.Network, err = layers.NewSeq2Seq(p.Scope(""), layers.Seq2SeqConfig{
		SourceVocabSize:  m.Written.Len(),
		TargetVocabSize:  m.ISO.Len() + 1, // and the begin mark
		ContextLength:    max(WrittenLength, ISOLength),
		EmbedDim:         c.Width,
		NumEncoderLayers: c.Blocks,
		NumDecoderLayers: c.Blocks,
		NumHeads:         c.Heads,
	})
	return m, err
}

// inputs makes the network's inputs in a graph.
func (m *Model) inputs(b *layers.Build) (source, lengths, target *G.Node) {
	n := m.Config.Batch
	return b.InputOf(tensor.Int, SourceInput, n, WrittenLength),
		b.InputOf(tensor.Int, LengthsInput, n),
		b.InputOf(tensor.Int, TargetInput, n, ISOLength)
}

// Loss returns the mean cross entropy of the characters of the ISO dates.
func (m *Model) Loss(b *layers.Build) (*G.Node, error) {
	source, lengths, target := m.inputs(b)
	targets := b.InputOf(tensor.Int, TargetsInput, m.Config.Batch, ISOLength)
	return b.Of(m.Network.Loss(b, source, target, lengths, targets)), b.Err()
}

// One builds the network for one pair whose written date has n characters. It returns the inputs, source ids (n) and
// target ids (ISOLength) that begin with the mark, and the logits (ISOLength, V) of the ISO date.
func (m *Model) One(b *layers.Build, n int) (source, target, logits *G.Node) {
	source, target = b.InputOf(tensor.Int, SourceInput, n), b.InputOf(tensor.Int, TargetInput, ISOLength)
	memory := b.Of(m.Network.Encode(b, source, nil))
	return source, target, b.Of(m.Network.Decode(b, target, memory, nil))
}

// String describes the model.
func (m *Model) String() string {
	c := m.Network.Config()
	return fmt.Sprintf("width %d, %d heads, blocks %d + %d",
		c.EmbedDim, c.NumHeads, c.NumEncoderLayers, c.NumDecoderLayers)
}
