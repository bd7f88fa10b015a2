package why

import (
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// reverser is an encoder–decoder.
type reverser interface {
	Forward(b *layers.Build, source, target, lengths *G.Node) (*G.Node, error)
	Loss(b *layers.Build, source, target, lengths, targets *G.Node) (*G.Node, error)
	Params() *layers.Params
}

// The names of the models.
const (
	squeezed    = "squeezed"
	attending   = "attending"
	transformer = "transformer"
)

// rivals are the models in the order of the table. They have the same number of parameters, within 3 %.
var rivals = []string{squeezed, attending, transformer}

// newReverser returns a model with the initial weights of a seed.
func newReverser(name string, seed int64) (reverser, error) {
	s := layers.NewParams(tensor.Float32, seed).Scope("")
	rnn := layers.RNNSeq2SeqConfig{SourceVocabSize: vocab, TargetVocabSize: vocab, EmbedDim: 32}
	switch name {
	case squeezed:
		rnn.HiddenSize = 92
		return layers.NewRNNSeq2Seq(s, rnn)
	case attending:
		rnn.HiddenSize, rnn.AttnDim = 72, 32
		return layers.NewRNNSeq2Seq(s, rnn)
	}
	return layers.NewSeq2Seq(s, layers.Seq2SeqConfig{SourceVocabSize: vocab, TargetVocabSize: vocab,
		ContextLength: longest + 1, EmbedDim: 64, NumEncoderLayers: 1, NumDecoderLayers: 1, NumHeads: 4, Sinusoidal: true})
}
