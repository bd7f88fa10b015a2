package train_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"

	"attention/graph"
	fieldconfig "attention/internal/config"
	"attention/train"
	"attention/train/text"
)

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

func TestStepsMoveEveryParameter(t *testing.T) {
	for _, solver := range []train.SolverConfig{{Name: train.SGD}, {Name: train.SGD, Momentum: 0.9}, {Name: train.Adam}, {}} {
		m := newModel(t, tensor.Float32, 1, 0.2)
		c := config()
		c.Solver = solver
		l := m.loop(t, c)
		before := m.values()
		first, err := l.Step(randomBatch(0))
		require.NoError(t, err)
		require.Len(t, before, 9)
		for name, now := range m.values() {
			change := 0.0
			for i, v := range now {
				change = math.Hypot(change, v-before[name][i])
			}
			require.Greater(t, change, 1e-6, "%v: %s", solver, name)
		}
		last := first
		for range 20 { // the same batch, learnt by heart
			last, err = l.Step(randomBatch(0))
			require.NoError(t, err)
		}
		require.Less(t, last.Loss, first.Loss)
		require.Equal(t, 21, l.Steps())
	}
}

func TestEqualSeedsGiveEqualBits(t *testing.T) {
	run := func(dtype tensor.Dtype, seed int64) ([]float64, map[string][]uint64) {
		m := newModel(t, dtype, 7, 0.3)
		c := config()
		c.Seed, c.ClipNorm = seed, 1
		var losses []float64
		c.OnStep = func(s train.StepResult) { losses = append(losses, s.Loss, s.GradNorm) }
		require.NoError(t, m.loop(t, c).Run(context.Background(), randomBatches(trainedSteps), nil))
		return losses, bitsOf(m.values())
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
	m := newModel(t, tensor.Float64, 7, 0.3)
	l := m.loop(t, config())
	seen := map[any]bool{}
	for range 5 {
		_, err := l.Step(randomBatch(0))
		require.NoError(t, err)
		seen[m.builds[0].DropoutKey().Value().Data()] = true
	}
	require.Len(t, seen, 5)
}

// A batch that ends a step with an error leaves no trace: not in the parameters,
// not in the solver, not in the count of steps.
func TestNotFiniteLossStopsTheRun(t *testing.T) {
	step := func(l *train.Loop, seed uint64) error {
		_, err := l.Step(randomBatch(seed))
		return err
	}
	for want, bad := range map[string]float64{
		"train: step 2: loss: got NaN, which is not finite; it began with output.bias":  math.NaN(),
		"train: step 2: loss: got +Inf, which is not finite; it began with output.bias": math.Inf(-1), // the target is impossible
	} {
		calm, m := newModel(t, tensor.Float64, 7, 0.3), newModel(t, tensor.Float64, 7, 0.3)
		calmLoop, l := calm.loop(t, config()), m.loop(t, config())
		for seed := range uint64(5) {
			require.NoError(t, step(calmLoop, seed))
			if seed == 2 {
				bias, _ := m.params.Get("output.bias")
				target := randomBatch(seed).Inputs[text.Targets].Ints()[0]
				good := bias.Float64s()[target]
				bias.Float64s()[target] = bad
				before := bitsOf(m.values())
				err := step(l, seed)
				require.EqualError(t, err, want)
				require.ErrorIs(t, err, train.ErrNotFinite)
				require.Equal(t, before, bitsOf(m.values()))
				require.Equal(t, 2, l.Steps())
				bias.Float64s()[target] = good
			}
			require.NoError(t, step(l, seed))
		}
		require.Equal(t, bitsOf(calm.values()), bitsOf(m.values()))
	}
}

func TestContextStopsBetweenSteps(t *testing.T) {
	whole := newModel(t, tensor.Float32, 7, 0.3)
	require.NoError(t, whole.loop(t, config()).Run(context.Background(), randomBatches(trainedSteps), nil))

	m := newModel(t, tensor.Float32, 7, 0.3)
	ctx, cancel := context.WithCancel(context.Background())
	c := config()
	c.OnStep = func(s train.StepResult) {
		if s.N == 3 {
			cancel()
		}
	}
	l, source := m.loop(t, c), randomBatches(trainedSteps)
	err := l.Run(ctx, source, nil)
	require.EqualError(t, err, "train: stopped after 4 of 10 steps: context canceled")
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 4, l.Steps())
	require.Equal(t, 4, source.next, "no batch is drawn in vain")

	require.NoError(t, l.Run(context.Background(), source, nil)) // and on
	require.Equal(t, trainedSteps, l.Steps())
	require.Equal(t, bitsOf(whole.values()), bitsOf(m.values()))
	require.NoError(t, l.Run(ctx, source, nil), "nothing is left to be stopped")
}

func TestRunCallsBack(t *testing.T) {
	all := func(evals ...int) (events []string) {
		for n := range trainedSteps {
			events = append(events, fmt.Sprint("step ", n))
			for _, e := range evals {
				if e == n+1 {
					events = append(events, fmt.Sprint("eval ", e))
				}
			}
		}
		return events
	}
	for _, row := range []struct {
		every int
		eval  train.Source
		want  []string
	}{
		{0, nil, all()},
		{3, nil, all()},
		{0, randomBatches(2), all(10)},
		{1, randomBatches(2), all(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)},
		{4, randomBatches(2), all(4, 8, 10)},
		{5, randomBatches(2), all(5, 10)},
		{99, randomBatches(2), all(10)},
	} {
		var events []string
		c := config()
		c.EvalEvery = row.every
		c.OnStep = func(s train.StepResult) {
			events = append(events, fmt.Sprint("step ", s.N))
			require.Equal(t, constantLearningRate, s.LearningRate)
			require.Positive(t, s.TokensPerSecond)
			require.Positive(t, s.GradNorm)
		}
		c.OnEval = func(e train.Evaluation) {
			events = append(events, fmt.Sprint("eval ", e.Step))
			require.Equal(t, 2*batchSize*contextLength, e.Tokens)
			require.Positive(t, e.Loss)
		}
		m := newModel(t, tensor.Float32, 1, 0)
		require.NoError(t, m.loop(t, c).Run(context.Background(), randomBatches(trainedSteps), row.eval))
		require.Equal(t, row.want, events)

		c.OnStep, c.OnEval = nil, nil
		require.NoError(t, m.loop(t, c).Run(context.Background(), randomBatches(trainedSteps), row.eval))
	}
}

func TestStepRefusesWrongBatches(t *testing.T) {
	for want, spoil := range map[string]func(inputs map[string]*tensor.Dense){
		"train: step 1: batch: targets: got none, want int (3, 5)": func(in map[string]*tensor.Dense) {
			delete(in, text.Targets)
		},
		"train: step 1: batch: inputs: got none, want int (3, 5)": func(in map[string]*tensor.Dense) { clear(in) },
		`train: step 1: batch: mask: is no input of the loss, which has ["inputs" "targets"]`: func(in map[string]*tensor.Dense) {
			in["mask"] = in[text.Inputs]
		},
		"train: step 1: batch: inputs: got int (5, 3), want int (3, 5)": func(in map[string]*tensor.Dense) {
			in[text.Inputs] = tensor.New(tensor.Of(tensor.Int), tensor.WithShape(5, 3))
		},
		"train: step 1: batch: inputs: got int (15), want int (3, 5)": func(in map[string]*tensor.Dense) {
			in[text.Inputs] = tensor.New(tensor.Of(tensor.Int), tensor.WithShape(15))
		},
		"train: step 1: batch: targets: got float64 (3, 5), want int (3, 5)": func(in map[string]*tensor.Dense) {
			in[text.Targets] = tensor.New(tensor.Of(tensor.Float64), tensor.WithShape(3, 5))
		},
		"got 11 at 4, want 0 <= target < V=11": func(in map[string]*tensor.Dense) { in[text.Targets].Ints()[4] = vocabulary },
		"got -1 at 14, want 0 <= id < V=11":    func(in map[string]*tensor.Dense) { in[text.Inputs].Ints()[14] = -1 },
		"got 15 times -100, want a target that counts": func(in map[string]*tensor.Dense) {
			in[text.Targets].Memset(graph.IgnoreTarget)
		},
	} {
		m := newModel(t, tensor.Float64, 1, 0.1)
		l := m.loop(t, config())
		_, err := l.Step(randomBatch(0))
		require.NoError(t, err)
		before := bitsOf(m.values())
		bad := randomBatch(1)
		spoil(bad.Inputs)
		_, err = l.Step(bad)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "train: step 1: ")
		require.Equal(t, before, bitsOf(m.values()))
		require.Equal(t, 1, l.Steps())
		_, err = l.Step(randomBatch(1))
		require.NoError(t, err, "a good batch after a bad one")
	}
}

func TestRunNamesWhatIsWrongWithItsSource(t *testing.T) {
	disk := errors.New("disk on fire")
	m := newModel(t, tensor.Float32, 1, 0)
	l := m.loop(t, config())
	err := l.Run(context.Background(), &batches{list: randomBatches(2).list, end: disk}, nil)
	require.EqualError(t, err, "train: step 2: batch: disk on fire")
	require.ErrorIs(t, err, disk)
	require.Equal(t, 2, l.Steps())

	err = l.Run(context.Background(), randomBatches(3), nil)
	require.EqualError(t, err, "train: step 5: batch: the source has ended, want another batch: unexpected EOF")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)

	require.EqualError(t, l.Run(context.Background(), nil, nil), "train: source to train on: got nil, want one")
}

func TestConfigValidate(t *testing.T) {
	require.NoError(t, config().Validate())
	for _, row := range []struct {
		spoil      func(*train.Config)
		want, json string
	}{
		{func(c *train.Config) { c.Steps = 0 },
			"Steps: got 0, want at least 1", "steps: got 0, want at least 1"},
		{func(c *train.Config) { c.Accumulate = -1 },
			"Accumulate: got -1, want at least 0", "accumulate: got -1, want at least 0"},
		{func(c *train.Config) { c.EvalEvery = -1 },
			"EvalEvery: got -1, want at least 0", "eval_every: got -1, want at least 0"},
		{func(c *train.Config) { c.Solver.Name = "lion" },
			`Solver.Name: got "lion", want one of sgd, adam, adamw`, `solver.name: got "lion", want one of sgd, adam, adamw`},
		{func(c *train.Config) { c.Schedule = train.ScheduleConfig{} },
			"Schedule: got none, want a constant or a cosine schedule", "schedule: got none, want a constant or a cosine schedule"},
		{func(c *train.Config) { c.Schedule.Schedule = train.Cosine{Peak: 1, WarmupSteps: 3, Steps: 3} },
			"Schedule.WarmupSteps: got 3, want less than Steps=3", "schedule.warmup_steps: got 3, want less than steps=3"},
		{func(c *train.Config) { c.ClipNorm = -1 },
			"ClipNorm: got -1, want a finite number of at least 0", "clip_norm: got -1, want a finite number of at least 0"},
	} {
		c := config()
		row.spoil(&c)
		require.EqualError(t, c.Validate(), row.want)
		require.EqualError(t, fieldconfig.JSON(c.Validate()), row.json)
		m := newModel(t, tensor.Float32, 1, 0)
		_, err := train.New(m.params, m.loss, c)
		require.EqualError(t, err, "train: "+row.want)
		require.Empty(t, m.builds, "refused before anything is built")
	}
}
