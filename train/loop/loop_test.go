package loop_test

import (
	"context"
	"math"
	"testing"

	"attention/graph"
	fieldconfig "attention/internal/config"
	"attention/internal/refusal"
	"attention/internal/small"
	"attention/train"
	"attention/train/loop"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// must checks the error of a call that a test needs but does not test.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

func TestEqualSeedsGiveEqualBits(t *testing.T) {
	run := func(dtype tensor.Dtype, seed int64) ([]float64, map[string][]uint64) {
		m := small.New(t, dtype, 7, 0.3)
		c := small.Config()
		c.Seed, c.ClipNorm = seed, 1
		var losses []float64
		c.OnStep = func(s train.StepResult) { losses = append(losses, s.Loss, s.GradNorm) }
		require.NoError(t, m.Loop(t, c).Run(context.Background(), small.Batches(small.Steps), nil))
		return losses, small.Bits(m.Values())
	}
	for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		losses, values := run(dtype, 3)
		again, valuesAgain := run(dtype, 3)
		require.Equal(t, losses, again)
		require.Equal(t, values, valuesAgain)
		other, valuesOther := run(dtype, 4)
		require.NotEqual(t, losses[0], other[0], "the seed is that of the dropout")
		require.NotEqual(t, values, valuesOther)
	}
}

// A batch that ends a step with an error changes nothing: not the parameters, not the solver, not the number of steps.
func TestNotFiniteLossStopsTheRun(t *testing.T) {
	step := func(l *loop.Loop, seed uint64) error {
		_, err := l.Step(small.Batch(seed))
		return err
	}
	for _, row := range []struct {
		reason string
		bad    float64
		want   string
	}{
		{"no number", math.NaN(), "loss: got NaN, which is not finite; it began with output.bias"},
		{"the target is impossible", math.Inf(-1), "loss: got +Inf, which is not finite; it began with output.bias"},
	} {
		calm, m := small.New(t, tensor.Float64, 7, 0.3), small.New(t, tensor.Float64, 7, 0.3)
		calmLoop, l := calm.Loop(t, small.Config()), m.Loop(t, small.Config())
		for seed := range uint64(5) {
			require.NoError(t, step(calmLoop, seed))
			if seed == 2 {
				bias, _ := m.Params.Get("output.bias")
				target := small.Batch(seed).Inputs[text.Targets].Ints()[0]
				good := bias.Float64s()[target]
				bias.Float64s()[target] = row.bad
				before := small.Bits(m.Values())
				err := step(l, seed)
				require.EqualError(t, err, "train: step 3: "+row.want, row.reason)
				require.ErrorIs(t, err, train.ErrNotFinite)
				require.Equal(t, before, small.Bits(m.Values()))
				require.Equal(t, 2, l.Steps())
				bias.Float64s()[target] = good
			}
			require.NoError(t, step(l, seed))
		}
		require.Equal(t, small.Bits(calm.Values()), small.Bits(m.Values()))
	}
}

func TestStepRefusesWrongBatches(t *testing.T) {
	for _, row := range []struct {
		name  string
		spoil func(in train.Values)
		want  string
	}{
		{"no targets", func(in train.Values) { delete(in, text.Targets) },
			"batch of inputs int (3, 5): graph: CrossEntropy: targets: got nil, want a node"},
		{"nothing", func(in train.Values) { clear(in) }, "batch of no values: chapter: LanguageModel: ids: got nil, want a node"},
		{"transposed", func(in train.Values) { in[text.Inputs] = small.Zeros(tensor.Int, 5, 3) },
			"batch of inputs int (5, 3), targets int (3, 5): graph: CrossEntropy: targets: "},
		{"a vector", func(in train.Values) { in[text.Inputs] = small.Zeros(tensor.Int, 15) },
			"batch of inputs int (15), targets int (3, 5): chapter: LanguageModel: ids: shape (15), want "},
		{"floats", func(in train.Values) { in[text.Targets] = small.Zeros(tensor.Float64, 3, 5) },
			"batch of inputs int (3, 5), targets float64 (3, 5): graph: CrossEntropy: targets: got float64, want int or int64"},
		{"a target beyond the vocabulary", func(in train.Values) { in[text.Targets].Ints()[4] = small.Vocabulary },
			"got 11 at 4, want 0 <= target < V=11"},
		{"a negative id", func(in train.Values) { in[text.Inputs].Ints()[14] = -1 }, "got -1 at 14, want 0 <= id < V=11"},
		{"no target that counts", func(in train.Values) { in[text.Targets].Memset(graph.IgnoreTarget) },
			"got 15 times -100, want a target that counts"},
	} {
		m := small.New(t, tensor.Float64, 1, 0.1)
		l := m.Loop(t, small.Config())
		must(l.Step(small.Batch(0)))
		before := small.Bits(m.Values())
		bad := small.Batch(1)
		row.spoil(bad.Inputs)
		_, err := l.Step(bad)
		require.ErrorContains(t, err, row.want, row.name)
		require.ErrorContains(t, err, "train: step 2: ")
		require.Equal(t, before, small.Bits(m.Values()))
		require.Equal(t, 1, l.Steps())
		_, err = l.Step(small.Batch(1))
		require.NoError(t, err, "a good batch after a bad one")
	}
}

func TestConfigValidate(t *testing.T) {
	cosine := func(c *loop.Config) { c.Schedule.Schedule = train.CosineLR{Peak: 1, WarmupSteps: 3, Steps: 3} }
	rows := refusal.Rows{
		{`{"steps": 0}`, "Steps: got 0, want at least 1"},
		{`{"accumulate": -1}`, "Accumulate: got -1, want at least 0"},
		{`{"eval_every": -1}`, "EvalEvery: got -1, want at least 0"},
		{`{"solver": {"name": "lion"}}`, `Solver.Name: got "lion", want one of sgd, adam, adamw, muon`},
		{func(c *loop.Config) { c.Schedule = train.ScheduleConfig{} },
			"Schedule: got none, want a constant, a cosine or a WSD schedule"},
		{cosine, "Schedule.WarmupSteps: got 3, want less than Steps=3"},
		{`{"clip_norm": -1}`, "ClipNorm: got -1, want a finite number of at least 0"},
	}
	refusal.Check(t, small.Config(), "", rows, loop.Config.Validate)
	refusal.Check(t, small.Config(), "train: ", rows, func(c loop.Config) error {
		m := small.New(t, tensor.Float32, 1, 0)
		_, err := loop.New(m.Params, m.Loss, c)
		return err
	})
	c := small.Config()
	cosine(&c)
	require.EqualError(t, fieldconfig.JSON(c.Validate()), "schedule.warmup_steps: got 3, want less than steps=3")
}
