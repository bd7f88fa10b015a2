// Package small has helpers for the tests of train and its subpackages: a small language model with its batches, a run
// with a single parameter whose every step is known, and runs in processes that are goroutines.
package small

import (
	"math"
	"testing"

	"attention/internal/golden"
	"attention/layers"
	"attention/layers/chapter"
	"attention/train"
	"attention/train/loop"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Sizes of the model of testdata/torch/training.py.
const (
	BatchSize, ContextLength = 3, 5 // B, T
	Vocabulary               = 11   // V
	Width, Attended          = 6, 14
	Heads                    = 2
	Steps                    = 10 // of Config
	LearningRate             = 0.01
)

// Model is a small language model and its loss.
type Model struct {
	Params *layers.Params
	Net    *chapter.LanguageModel
	Builds []*layers.Build // the ids with which Loss was called
	t      testing.TB
}

// New makes a model of initial values from a seed.
func New(t testing.TB, dtype tensor.Dtype, seed int64, dropout float64) *Model {
	p := layers.NewParams(dtype, seed)
	net, err := chapter.NewLanguageModel(p.Scope(""), chapter.LanguageModelConfig{
		VocabSize: Vocabulary, ContextLength: ContextLength, EmbedDim: Width,
		Attention: chapter.Config{Layer: "multi_head", EmbedDim: Width, OutDim: Attended,
			ContextLength: ContextLength, NumHeads: Heads, Dropout: dropout},
	})
	require.NoError(t, err)
	return &Model{Params: p, Net: net, t: t}
}

// Loss is the mean cross-entropy of the next tokens.
func (m *Model) Loss(b *layers.Build, in layers.Inputs) []*G.Node {
	m.Builds = append(m.Builds, b)
	return text.TokenLoss(m.Net.Loss)(b, in)
}

// Config is a run of AdamW over Steps.
func Config() loop.Config {
	step := train.StepConfig{Schedule: train.ConstantRate(LearningRate)}
	return loop.Config{Steps: Steps, StepConfig: step}
}

// Loop returns a loop over the model.
func (m *Model) Loop(t testing.TB, c loop.Config) *loop.Loop {
	l, err := loop.New(m.Params, m.Loss, c)
	require.NoError(t, err)
	return l
}

// Values are copies of all parameters, as float64s.
func (m *Model) Values() map[string][]float64 { return Values(m.t, m.Params) }

// Values are copies of parameters, as float64s.
func Values(t testing.TB, p *layers.Params) map[string][]float64 {
	all := map[string][]float64{}
	for name, v := range p.All() {
		all[name] = golden.Floats(t, v)
	}
	return all
}

// Bits returns the bits of values, which also distinguish NaNs.
func Bits(values map[string][]float64) map[string][]uint64 {
	all := map[string][]uint64{}
	for name, list := range values {
		for _, v := range list {
			all[name] = append(all[name], math.Float64bits(v))
		}
	}
	return all
}

// Vector makes a tensor of float64s.
func Vector(v ...float64) *tensor.Dense { return golden.Dense(tensor.Float64, v, len(v)) }

// Zeros makes a tensor of zeros.
func Zeros(dtype tensor.Dtype, shape ...int) *tensor.Dense {
	return tensor.New(tensor.Of(dtype), tensor.WithShape(shape...))
}
