package loop_test

import (
	"context"
	"math"
	"testing"

	"attention/graph"
	fieldconfig "attention/internal/config"
	"attention/internal/small"
	"attention/train"
	"attention/train/loop"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func TestStepsMoveEveryParameter(t *testing.T) {
	for _, solver := range []train.SolverConfig{
		{Name: train.SGD}, {Name: train.SGD, Momentum: 0.9}, {Name: train.Adam}, {},
	} {
		m := small.New(t, tensor.Float32, 1, 0.2)
		c := small.Config()
		c.Solver = solver
		l := m.Loop(t, c)
		before := m.Values()
		first, err := l.Step(small.Batch(0))
		require.NoError(t, err)
		require.Len(t, before, 9)
		for name, now := range m.Values() {
			change := 0.0
			for i, v := range now {
				change = math.Hypot(change, v-before[name][i])
			}
			require.Greater(t, change, 1e-6, "%v: %s", solver, name)
		}
		last := first
		for range 20 { // the same batch, learnt by heart
			last, err = l.Step(small.Batch(0))
			require.NoError(t, err)
		}
		require.Less(t, last.Loss, first.Loss)
		require.Equal(t, 21, l.Steps())
	}
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

func TestEveryStepDrawsNewDropout(t *testing.T) {
	m := small.New(t, tensor.Float64, 7, 0.3)
	l := m.Loop(t, small.Config())
	seen := map[any]bool{}
	for range 5 {
		_, err := l.Step(small.Batch(0))
		require.NoError(t, err)
		seen[m.Builds[0].DropoutKey().Value().Data()] = true
	}
	require.Len(t, seen, 5)
}

// A batch that ends a step with an error leaves no trace: not in the parameters,
// not in the solver, not in the count of steps.
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
		{reason: "no number", bad: math.NaN(), want: "loss: got NaN, which is not finite; it began with output.bias"},
		{reason: "the target is impossible", bad: math.Inf(-1),
			want: "loss: got +Inf, which is not finite; it began with output.bias"},
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
		{name: "no targets", spoil: func(in train.Values) { delete(in, text.Targets) },
			want: "batch: targets: got none, want int (3, 5)"},
		{name: "nothing", spoil: func(in train.Values) { clear(in) },
			want: "batch: inputs: got none, want int (3, 5)"},
		{name: "another input", spoil: func(in train.Values) { in["mask"] = in[text.Inputs] },
			want: `batch: mask: is no input of the loss, which has ["inputs" "targets"]`},
		{name: "transposed", spoil: func(in train.Values) { in[text.Inputs] = small.Zeros(tensor.Int, 5, 3) },
			want: "batch: inputs: got int (5, 3), want int (3, 5)"},
		{name: "a vector", spoil: func(in train.Values) { in[text.Inputs] = small.Zeros(tensor.Int, 15) },
			want: "batch: inputs: got int (15), want int (3, 5)"},
		{name: "floats", spoil: func(in train.Values) { in[text.Targets] = small.Zeros(tensor.Float64, 3, 5) },
			want: "batch: targets: got float64 (3, 5), want int (3, 5)"},
		{name: "a target beyond the vocabulary",
			spoil: func(in train.Values) { in[text.Targets].Ints()[4] = small.Vocabulary },
			want:  "got 11 at 4, want 0 <= target < V=11"},
		{name: "a negative id", spoil: func(in train.Values) { in[text.Inputs].Ints()[14] = -1 },
			want: "got -1 at 14, want 0 <= id < V=11"},
		{name: "no target that counts", spoil: func(in train.Values) { in[text.Targets].Memset(graph.IgnoreTarget) },
			want: "got 15 times -100, want a target that counts"},
	} {
		m := small.New(t, tensor.Float64, 1, 0.1)
		l := m.Loop(t, small.Config())
		_, err := l.Step(small.Batch(0))
		require.NoError(t, err)
		before := small.Bits(m.Values())
		bad := small.Batch(1)
		row.spoil(bad.Inputs)
		_, err = l.Step(bad)
		require.ErrorContains(t, err, row.want, row.name)
		require.ErrorContains(t, err, "train: step 2: ")
		require.Equal(t, before, small.Bits(m.Values()))
		require.Equal(t, 1, l.Steps())
		_, err = l.Step(small.Batch(1))
		require.NoError(t, err, "a good batch after a bad one")
	}
}

func TestConfigValidate(t *testing.T) {
	require.NoError(t, small.Config().Validate())
	for _, row := range []struct {
		spoil      func(*loop.Config)
		want, json string
	}{
		{spoil: func(c *loop.Config) { c.Steps = 0 },
			want: "Steps: got 0, want at least 1", json: "steps: got 0, want at least 1"},
		{spoil: func(c *loop.Config) { c.Accumulate = -1 },
			want: "Accumulate: got -1, want at least 0", json: "accumulate: got -1, want at least 0"},
		{spoil: func(c *loop.Config) { c.EvalEvery = -1 },
			want: "EvalEvery: got -1, want at least 0", json: "eval_every: got -1, want at least 0"},
		{spoil: func(c *loop.Config) { c.Solver.Name = "lion" },
			want: `Solver.Name: got "lion", want one of sgd, adam, adamw, muon`,
			json: `solver.name: got "lion", want one of sgd, adam, adamw, muon`},
		{spoil: func(c *loop.Config) { c.Schedule = train.ScheduleConfig{} },
			want: "Schedule: got none, want a constant, a cosine or a WSD schedule",
			json: "schedule: got none, want a constant, a cosine or a WSD schedule"},
		{spoil: func(c *loop.Config) { c.Schedule.Schedule = train.CosineLR{Peak: 1, WarmupSteps: 3, Steps: 3} },
			want: "Schedule.WarmupSteps: got 3, want less than Steps=3",
			json: "schedule.warmup_steps: got 3, want less than steps=3"},
		{spoil: func(c *loop.Config) { c.ClipNorm = -1 },
			want: "ClipNorm: got -1, want a finite number of at least 0",
			json: "clip_norm: got -1, want a finite number of at least 0"},
	} {
		c := small.Config()
		row.spoil(&c)
		require.EqualError(t, c.Validate(), row.want)
		require.EqualError(t, fieldconfig.JSON(c.Validate()), row.json)
		m := small.New(t, tensor.Float32, 1, 0)
		_, err := loop.New(m.Params, m.Loss, c)
		require.EqualError(t, err, "train: "+row.want)
		require.Empty(t, m.Builds, "refused before anything is built")
	}
}
