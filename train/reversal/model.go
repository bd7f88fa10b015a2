package why

import (
	"context"
	"image/color"
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

// rivals are the models in the order of the table. They have the same number of parameters, within 3 %.
var rivals = []struct {
	name   string
	create func(s layers.Scope) (reverser, error)
	mark   byte        // on a terminal
	ink    color.NRGBA // which the colour-blind can tell from the others
	width  float64     // of its curve in points: one is visible behind another
}{
	{"squeezed", recurrent(92, 0), 's', color.NRGBA{R: 0xd5, G: 0x5e, A: 0xff}, 2},
	{"attending", recurrent(72, 32), 'a', color.NRGBA{G: 0x72, B: 0xb2, A: 0xff}, 6},
	{"transformer", newTransformer, 't', color.NRGBA{G: 0x9e, B: 0x73, A: 0xff}, 2},
}

// recurrent returns the constructor of two GRUs, with attention if its width is not 0.
func recurrent(hidden, attn int) func(s layers.Scope) (reverser, error) {
	return func(s layers.Scope) (reverser, error) {
		return layers.NewRNNSeq2Seq(s, layers.RNNSeq2SeqConfig{SourceVocabSize: vocab, TargetVocabSize: vocab, EmbedDim: 32,
			HiddenSize: hidden, AttnDim: attn})
	}
}

func newTransformer(s layers.Scope) (reverser, error) {
	return layers.NewSeq2Seq(s, layers.Seq2SeqConfig{SourceVocabSize: vocab, TargetVocabSize: vocab,
		ContextLength: longest + 1, EmbedDim: 64, NumEncoderLayers: 1, NumDecoderLayers: 1, NumHeads: 4, Sinusoidal: true})
}

// rival is a model that learns to reverse.
type rival struct{ reverser }

// newRival returns one of rivals with the initial weights of a seed.
func newRival(model int, seed int64) (learner, error) {
	m, err := rivals[model].create(layers.NewParams(tensor.Float32, seed).Scope(""))
	return rival{m}, err
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
