// Package reversal is a task that shows the purpose of attention: writing random strings backwards. It has three
// encoder–decoders, with and without attention, and measures how well they write.
package reversal

import (
	"cmp"
	"fmt"

	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// Kind is the kind of a model. All kinds have the same number of parameters, within 4 %.
type Kind string

// The kinds of models.
const (
	// Squeezed is a GRU that reads and another that writes: the only connection between them is one hidden state.
	Squeezed Kind = "squeezed"
	// Attending is Squeezed with a writer that attends to all states of the reader before each letter (Bahdanau et al.
	// 2014).
	Attending Kind = "attending"
	// Transformer is an encoder and a decoder of self- and cross-attention (Vaswani et al. 2017).
	Transformer Kind = "transformer"
)

// Model is a model that learns to write strings backwards.
type Model struct{ network }

// network is an encoder–decoder.
type network interface {
	Forward(b *layers.Build, source, target, lengths *G.Node) (*G.Node, error)
	Loss(b *layers.Build, source, target, lengths, targets *G.Node) (*G.Node, error)
	Params() *layers.Params
}

// New makes a model of a kind and its parameters.
func New(s layers.Scope, k Kind) (m *Model, err error) {
	m = new(Model)
	recurrent := layers.RNNSeq2SeqConfig{SourceVocabSize: vocab, TargetVocabSize: vocab, EmbedDim: 32}
	switch k {
	case Squeezed:
		recurrent.HiddenSize = 92
		m.network, err = layers.NewRNNSeq2Seq(s, recurrent)
	case Attending:
		recurrent.HiddenSize, recurrent.AttnDim = 72, 32
		m.network, err = layers.NewRNNSeq2Seq(s, recurrent)
	case Transformer:
		m.network, err = layers.NewSeq2Seq(s, layers.Seq2SeqConfig{SourceVocabSize: vocab, TargetVocabSize: vocab,
			ContextLength: Longest + 1, EmbedDim: 64, NumEncoderLayers: 1, NumDecoderLayers: 1, NumHeads: 4,
			Sinusoidal: true})
	default:
		return nil, fmt.Errorf("reversal: kind: got %q, want %s, %s or %s", k, Squeezed, Attending, Transformer)
	}
	return m, err
}

// Loss is the mean cross entropy of the letters.
func (m *Model) Loss(b *layers.Build, in layers.Inputs) []*G.Node {
	return b.Nodes(m.network.Loss(b, in[sourceInput], in[targetInput], in[lengthsInput], in[targetsInput]))
}

// shown returns the logits (B, T, V) of the letters. Its second result is the weights (B, H, T, S) from each written
// letter to the string or, for a GRU without attention, the state (B, N) before the first letter.
func (m *Model) shown(b *layers.Build, in layers.Inputs) []*G.Node {
	source, target, lengths := in[sourceInput], in[targetInput], in[lengthsInput]
	if rnn, ok := m.network.(*layers.RNNSeq2Seq); ok {
		memory, err := rnn.Encode(b, source, lengths)
		if err != nil {
			return b.Nodes(nil, err)
		}
		logits, after, err := rnn.Decode(b, target, memory)
		return append(b.Nodes(logits, err), cmp.Or(after.Weights, memory.State))
	}
	b.Observe("*.multihead_attn")
	nodes := b.Nodes(m.Forward(b, source, target, lengths))
	if calls := b.Calls("*.multihead_attn"); len(calls) > 0 {
		nodes = append(nodes, b.Of(calls[0].Weights()))
	}
	return nodes
}
