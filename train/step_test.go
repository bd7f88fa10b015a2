package train_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"attention/layers"
	"attention/train"
)

// TestStepIsTheLoops trains one model by Step and one by Loop: equal losses and
// parameters, bit for bit, with dropout and clipping.
func TestStepIsTheLoops(t *testing.T) {
	c := config()
	c.ClipNorm, c.Seed = 0.5, 3
	c.Schedule = train.ScheduleConfig{Schedule: train.CosineLR{Peak: 0.1, WarmupSteps: 2, Steps: 9}}
	one, other := newModel(t, tensor.Float32, 1, 0.3), newModel(t, tensor.Float32, 1, 0.3)
	loop, err := train.New(one.params, one.loss, c)
	require.NoError(t, err)
	b := layers.NewBuild(other.params, layers.Train)
	loss, err := other.loss(b)
	require.NoError(t, err)
	step, err := train.NewStep(b, loss, c.StepConfig)
	require.NoError(t, err)
	for n := range uint64(5) {
		want, err := loop.Step(randomBatch(n))
		require.NoError(t, err)
		got, err := step.Run(randomBatch(n).Inputs)
		require.NoError(t, err)
		require.Equal(t, want.Loss, got)
	}
	for name, want := range one.params.All() {
		got, _ := other.params.Get(name)
		require.Equal(t, want.Data(), got.Data(), name)
	}
}

// TestStepOfAnEvalGraph trains without dropout.
func TestStepOfAnEvalGraph(t *testing.T) {
	m := newModel(t, tensor.Float64, 1, 0.5)
	b := layers.NewBuild(m.params, layers.Eval)
	loss, err := m.loss(b)
	require.NoError(t, err)
	step, err := train.NewStep(b, loss, config().StepConfig)
	require.NoError(t, err)
	before, err := step.Run(randomBatch(1).Inputs)
	require.NoError(t, err)
	after, err := step.Run(randomBatch(1).Inputs)
	require.NoError(t, err)
	require.Less(t, after, before)
}

func TestStepRefuses(t *testing.T) {
	p, w := weights(t, "w", 3, 1)
	b := layers.NewBuild(p, layers.Train)
	x := b.Input("x", 1)
	loss := b.Of(G.Sum(b.Of(G.HadamardProd(b.Node(w), x))))
	c := train.StepConfig{Schedule: train.ConstantRate(1)}
	step, err := train.NewStep(b, loss, c)
	require.NoError(t, err)
	one := vector(1)
	for _, r := range []struct {
		name   string
		values train.Values
		want   string
	}{
		{name: "no value", want: "train: step 1: batch: x: got none, want float64 (1)"},
		{name: "another input", values: train.Values{"x": one, "y": one},
			want: `train: step 1: batch: y: is no input of the loss, which has ["x"]`},
	} {
		_, err := step.Run(r.values)
		require.EqualError(t, err, r.want, r.name)
	}
	require.Equal(t, []float64{3}, w.Value().Data())

	_, err = train.NewStep(nil, loss, c)
	require.EqualError(t, err, "train: step: got nil for the build, want one")
	_, err = train.NewStep(b, nil, c)
	require.EqualError(t, err, "train: train graph: loss: got nil, want a node")
	_, err = train.NewStep(b, loss, train.StepConfig{})
	require.EqualError(t, err, "train: Schedule: got none, want a constant or a cosine schedule")
	failed := b.Of(G.Add(x, b.Input("x", 1))) // the name twice: the build's first error comes first
	_, err = train.NewStep(b, failed, c)
	require.ErrorContains(t, err, `train: train graph: layers: input "x": the name is taken`)
}
