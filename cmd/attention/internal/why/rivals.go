package why

import (
	"context"
	"math/rand/v2"

	"attention/layers"
	"attention/train"

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

// rival is a model that learns to reverse.
type rival struct{ reverser }

// newRival returns a model with the initial weights of a seed.
func newRival(name string, seed int64) (learner, error) {
	m, err := newReverser(name, layers.NewParams(tensor.Float32, seed).Scope(""))
	return rival{m}, err
}

func newReverser(name string, s layers.Scope) (reverser, error) {
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

func (rival) examples(random *rand.Rand) train.Source { return newStringBatch(reverseBatch, random) }

func (m rival) exampleLoss(b *layers.Build) (*G.Node, error) {
	source, target, lengths, targets := stringInputs(b, reverseBatch)
	return m.Loss(b, source, target, lengths, targets)
}

func (m rival) examine(ctx context.Context, seed int64) (record func(*modelReport), err error) {
	j, err := newJudge(m, testStrings)
	if err != nil {
		return nil, err
	}
	exact, err := j.exact(ctx, testStrings, seed)
	return func(r *modelReport) { r.Exact = append(r.Exact, exact) }, err
}
