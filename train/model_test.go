package train_test

import (
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/internal/golden"
	"attention/layers"
	"attention/layers/chapter"
	"attention/train"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Sizes of the model of testdata/torch/training.py, which the loop's tests train.
const (
	batchSize, contextLength = 3, 5 // B, T
	vocabulary               = 11   // V
	width, attended          = 6, 14
	heads                    = 2
	trainedSteps             = 10
	constantLearningRate     = 0.01
)

// model is a small language model and its loss.
type model struct {
	t      testing.TB
	params *layers.Params
	net    *chapter.LanguageModel
	builds []*layers.Build // those that loss was called with
}

func newModel(t testing.TB, dtype tensor.Dtype, seed int64, dropout float64) *model {
	p := layers.NewParams(dtype, seed)
	net, err := chapter.NewLanguageModel(p.Scope(""), chapter.LanguageModelConfig{
		VocabSize: vocabulary, ContextLength: contextLength, EmbedDim: width,
		Attention: chapter.Config{Layer: "multi_head", EmbedDim: width, OutDim: attended,
			ContextLength: contextLength, NumHeads: heads, Dropout: dropout},
	})
	require.NoError(t, err)
	return &model{t: t, params: p, net: net}
}

func (m *model) loss(b *layers.Build) (*G.Node, error) {
	m.builds = append(m.builds, b)
	return text.TokenLoss(m.net.Loss, text.WindowConfig{Batch: batchSize, Context: contextLength})(b)
}

// config is a run of AdamW over all of the tests' steps.
func config() train.Config {
	step := train.StepConfig{Schedule: train.ConstantRate(constantLearningRate)}
	return train.Config{Steps: trainedSteps, StepConfig: step}
}

func (m *model) loop(t testing.TB, c train.Config) *train.Loop {
	l, err := train.New(m.params, m.loss, c)
	require.NoError(t, err)
	return l
}

// values are copies of all parameters, as float64s.
func (m *model) values() map[string][]float64 {
	all := map[string][]float64{}
	for name, v := range m.params.All() {
		all[name] = golden.Floats(m.t, v)
	}
	return all
}

// vector makes a tensor of float64s.
func vector(v ...float64) *tensor.Dense { return golden.Dense(tensor.Float64, v, len(v)) }

// zeros makes a tensor of zeros.
func zeros(dtype tensor.Dtype, shape ...int) *tensor.Dense {
	return tensor.New(tensor.Of(dtype), tensor.WithShape(shape...))
}

// textBatch makes a batch of ids whose targets all count but those that are
// graph.IgnoreTarget.
func textBatch(inputs, targets []int) train.Batch {
	b := train.Batch{Inputs: map[string]*tensor.Dense{
		text.Inputs:  tensor.New(tensor.WithShape(batchSize, contextLength), tensor.WithBacking(inputs)),
		text.Targets: tensor.New(tensor.WithShape(batchSize, contextLength), tensor.WithBacking(targets)),
	}}
	for _, target := range targets {
		if target != graph.IgnoreTarget {
			b.Tokens++
		}
	}
	return b
}

// randomBatch depends on the seed only.
func randomBatch(seed uint64) train.Batch {
	random := rand.New(rand.NewPCG(seed, 0))
	inputs, targets := make([]int, batchSize*contextLength), make([]int, batchSize*contextLength)
	for i := range inputs {
		inputs[i], targets[i] = random.IntN(vocabulary), random.IntN(vocabulary)
	}
	return textBatch(inputs, targets)
}

// batches is a source of given batches; after the last comes end, and then the
// first again.
type batches struct {
	list []train.Batch
	end  error
	next int
}

func (s *batches) Next() (train.Batch, error) {
	if s.next == len(s.list) {
		s.next = 0
		return train.Batch{}, s.end
	}
	s.next++
	return s.list[s.next-1], nil
}

// randomBatches is a source of n batches.
func randomBatches(n int) *batches {
	s := &batches{end: io.EOF}
	for i := range n {
		s.list = append(s.list, randomBatch(uint64(i)))
	}
	return s
}

// bitsOf are the bits of all values, which also tell NaNs apart.
func bitsOf(values map[string][]float64) map[string][]uint64 {
	all := map[string][]uint64{}
	for name, list := range values {
		for _, v := range list {
			all[name] = append(all[name], math.Float64bits(v))
		}
	}
	return all
}
