package train_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"attention/internal/small"
	"attention/layers"
	"attention/train"
	"attention/train/loop"
)

// must checks the error of a call that a test needs but does not test.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// TestStepIsTheLoops trains one model by Step and one by Loop: losses and parameters are equal, bit for bit, with
// dropout and clipping.
func TestStepIsTheLoops(t *testing.T) {
	c := small.Config()
	c.ClipNorm, c.Seed = 0.5, 3
	c.Schedule = train.ScheduleConfig{Schedule: train.CosineLR{Peak: 0.1, WarmupSteps: 2, Steps: 9}}
	one, other := small.New(t, tensor.Float32, 1, 0.3), small.New(t, tensor.Float32, 1, 0.3)
	l := must(loop.New(one.Params, one.Loss, c))
	b := layers.NewBuild(other.Params, layers.Train)
	step := must(train.NewStep(b, other.Loss(b, b.InputsOf(small.Batch(0).Inputs))[0], c.StepConfig))
	for n := range uint64(5) {
		require.Equal(t, must(l.Step(small.Batch(n))).Loss, must(step.Run(small.Batch(n).Inputs)))
	}
	for name, want := range one.Params.All() {
		got, _ := other.Params.Get(name)
		require.Equal(t, want.Data(), got.Data(), name)
	}
}

// The speed counts the targets, or the number of tokens per batch that the config sets.
func TestBatchTokens(t *testing.T) {
	c := small.Config()
	c.Accumulate = 2
	for _, tokens := range []int{0, 1e15} {
		c.BatchTokens = tokens
		l := small.New(t, tensor.Float32, 1, 0).Loop(t, c)
		s := must(l.Step(small.Batch(1), small.Batch(2)))
		require.Equal(t, tokens > 0, s.TokensPerSecond > 1e12, s.TokensPerSecond)
	}
	c.BatchTokens = -1
	require.EqualError(t, c.Validate(), "BatchTokens: got -1, want at least 0")
}

// TestStepOfAnEvalGraph trains without dropout.
func TestStepOfAnEvalGraph(t *testing.T) {
	m := small.New(t, tensor.Float64, 1, 0.5)
	b := layers.NewBuild(m.Params, layers.Eval)
	step := must(train.NewStep(b, m.Loss(b, b.InputsOf(small.Batch(0).Inputs))[0], small.Config().StepConfig))
	before := must(step.Run(small.Batch(1).Inputs))
	require.Less(t, must(step.Run(small.Batch(1).Inputs)), before)
}

func TestStepRefuses(t *testing.T) {
	p, w := weights(t, "w", 3, 1)
	b := layers.NewBuild(p, layers.Train)
	x := b.Input("x", 1)
	loss := b.Of(G.Sum(b.Of(G.HadamardProd(b.Node(w), x))))
	c := train.StepConfig{Schedule: train.ConstantRate(1)}
	step := must(train.NewStep(b, loss, c))
	one := small.Vector(1)
	for _, r := range []struct {
		name   string
		values train.Values
		want   string
	}{
		{name: "no value", want: "train: step 1: batch: x: got nil, want float64 (1)"},
		{name: "another input", values: train.Values{"x": one, "y": one},
			want: `train: step 1: batch: y: is no input of the loss, which has ["x"]`},
	} {
		_, err := step.Run(r.values)
		require.EqualError(t, err, r.want, r.name)
	}
	_, err := step.Take(nil)
	require.EqualError(t, err, "train: step 1: source: got nil, want one")
	c.Accumulate = 2
	again := layers.NewBuild(p, layers.Train)
	_, err = must(train.NewStep(again, again.Of(G.Sum(again.Node(w))), c)).Run(nil)
	require.EqualError(t, err, "train: step 1: got 1 batch, want 2: Take reads them from a source")
	require.Equal(t, []float64{3}, w.Value().Data())

	_, err = train.NewStep(nil, loss, c)
	require.EqualError(t, err, "train: step: got no build, want one of layers.NewBuild")
	_, err = train.NewStep(b, nil, c)
	require.EqualError(t, err, "train: train graph: loss: got nil, want a node")
	_, err = train.NewStep(b, loss, train.StepConfig{})
	require.EqualError(t, err, "train: Schedule: got none, want a constant, a cosine or a WSD schedule")
	failed := b.Of(G.Add(x, b.Input("x", 1))) // the name twice: NewStep returns the build's first error
	_, err = train.NewStep(b, failed, c)
	require.ErrorContains(t, err, `train: train graph: layers: input "x": the name is taken`)
}
