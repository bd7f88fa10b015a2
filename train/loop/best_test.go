package loop_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"attention/internal/small"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// walks are runs with their last and their best step.
var walks = []struct {
	reason      string
	numbers     []float64
	config      loop.Config
	ended, best int
}{
	{reason: "no patience: all steps", numbers: []float64{4, 2, 3, 5, 6}, ended: 5, best: 2},
	{reason: "two in a row are worse", numbers: []float64{4, 2, 3, 5, 1},
		config: loop.Config{Patience: 2}, ended: 4, best: 2},
	{reason: "in a row", numbers: []float64{4, 5, 3, 5, 2, 5, 1},
		config: loop.Config{Patience: 2}, ended: 7, best: 7},
	{reason: "an equal loss is no improvement", numbers: []float64{4, 3, -3, 3, 1},
		config: loop.Config{Patience: 2}, ended: 4, best: 2},
	{reason: "improvements that are too small, but the best is the best", numbers: []float64{4, 3.9, 3.8, 3.7, 1},
		config: loop.Config{Patience: 3, MinDelta: 5}, ended: 4, best: 4},
	{reason: "small ones add up: 16 − 3.3² > 5", numbers: []float64{4, 3.8, 3.3, 3.2, 3.1, 3},
		config: loop.Config{Patience: 3, MinDelta: 5}, ended: 6, best: 6},
	{reason: "every other step", numbers: []float64{1, 4, 0, 5, 0, 6, 1, 1},
		config: loop.Config{Patience: 2, EvalEvery: 2}, ended: 6, best: 2},
	{reason: "the last step ends it too", numbers: []float64{4, 3, 2},
		config: loop.Config{Patience: 1}, ended: 3, best: 3},
	{reason: "the last evaluation is between", numbers: []float64{4, 3, 2},
		config: loop.Config{Patience: 1, EvalEvery: 2}, ended: 3, best: 3},
}

func TestBestAndPatience(t *testing.T) {
	for _, c := range walks {
		c.config.Steps, c.config.KeepBest = len(c.numbers), true
		l, p := small.Walker(t, c.config)
		require.Zero(t, l.Best())
		require.EqualError(t, l.UseBest(), "train: best parameters: got no evaluation, want one of Run", c.reason)
		require.NoError(t, l.Run(context.Background(), &small.Walk{Numbers: c.numbers}, small.AtZero()), c.reason)
		require.Equal(t, c.ended, l.Steps(), c.reason)
		lowest := c.numbers[c.best-1]
		require.Equal(t, loop.Evaluation{Step: c.best, Loss: lowest * lowest, Tokens: 1}, l.Best(), c.reason)
		require.Equal(t, c.numbers[c.ended-1], small.Place(p), "%s: the last ones until UseBest", c.reason)
		require.NoError(t, l.UseBest(), c.reason)
		require.Equal(t, lowest, small.Place(p), c.reason)
		require.Equal(t, l.Best(), must(l.Evaluate(context.Background(), small.AtZero())), c.reason)
	}
}

// A run that is stopped at any step and resumed ends at the same step with the same best parameters.
func TestBestAndPatienceResume(t *testing.T) {
	for i, c := range walks {
		for every := range 4 {
			if testing.Short() && every != i%4 {
				continue
			}
			t.Run(fmt.Sprintf("%s, every %d", c.reason, every), func(t *testing.T) {
				t.Parallel() // saving waits for the disk
				config := c.config
				config.Steps, config.KeepBest = len(c.numbers), true
				for stop := 1; stop < c.ended; stop++ {
					checkpoints := small.OpenFolder(t, t.TempDir(), checkpoint.Config{Every: every})
					stopWalk(t, checkpoints, config, c.numbers, stop)

					l, p := small.Walker(t, config)
					l.SaveTo(checkpoints)
					source := &small.Walk{Numbers: c.numbers}
					require.NotNil(t, must(checkpoints.Restore(l, source)))
					require.NoError(t, l.Run(context.Background(), source, small.AtZero()))
					require.Equal(t, c.ended, l.Steps(), "stopped after %d", stop)
					require.Equal(t, c.best, l.Best().Step, "stopped after %d", stop)
					steps := small.StepsIn(t, checkpoints)
					require.Equal(t, c.ended, steps[len(steps)-1])
					require.NoError(t, l.UseBest())
					require.Equal(t, c.numbers[c.best-1], small.Place(p), "stopped after %d", stop)
				}
			})
		}
	}
}

// stopWalk trains until the step stop, with checkpoints.
func stopWalk(t *testing.T, checkpoints *checkpoint.Folder, c loop.Config, numbers []float64, stop int) {
	ctx, cancel := context.WithCancel(context.Background())
	c.OnStep = func(s train.StepResult) {
		if s.Step == stop {
			cancel()
		}
	}
	l, _ := small.Walker(t, c)
	l.SaveTo(checkpoints)
	require.ErrorIs(t, l.Run(ctx, &small.Walk{Numbers: numbers}, small.AtZero()), context.Canceled)
	require.Equal(t, stop, l.Steps())
}

// A run that has ended early continues with more patience, from its last parameters, not the best.
func TestMorePatience(t *testing.T) {
	numbers := []float64{4, 2, 3, 5, 1, 6}
	path := filepath.Join(t.TempDir(), "checkpoint")
	l, _ := small.Walker(t, loop.Config{Steps: 6, Patience: 2, KeepBest: true})
	source := &small.Walk{Numbers: numbers}
	require.NoError(t, l.Run(context.Background(), source, small.AtZero()))
	require.NoError(t, checkpoint.Save(l, path, source))
	require.NoError(t, l.UseBest())
	const refused = "train: loop: got the parameters of UseBest, of step 2, want those of step 4: Restore them"
	require.EqualError(t, l.Run(context.Background(), source, small.AtZero()), refused)
	require.EqualError(t, checkpoint.Save(l, path, source), refused)
	_, err := l.Step(train.Batch{})
	require.EqualError(t, err, refused)
	require.NoError(t, small.Restore(l, path, source))
	require.NoError(t, l.Run(context.Background(), source, small.AtZero()))
	require.Equal(t, 4, l.Steps(), "no more patience")

	l, p := small.Walker(t, loop.Config{Steps: 6, Patience: 3, KeepBest: true})
	require.NoError(t, small.Restore(l, path, source))
	require.Equal(t, 5.0, small.Place(p))
	require.NoError(t, l.Run(context.Background(), source, small.AtZero()))
	require.Equal(t, []int{6, 5}, []int{l.Steps(), l.Best().Step})
}

// Keeping the best evaluation does not change the training.
func TestBestChangesNoBits(t *testing.T) {
	run := func(c loop.Config) map[string][]uint64 {
		c.EvalEvery = 2
		m := small.New(t, tensor.Float32, 7, 0.3)
		require.NoError(t, m.Loop(t, c).Run(context.Background(), small.Batches(small.Steps), small.Batches(2)))
		return small.Bits(m.Values())
	}
	want := run(small.Config())
	c := small.Config()
	c.Patience, c.MinDelta, c.KeepBest = 100, 0.1, true
	require.Equal(t, want, run(c))

	l := small.New(t, tensor.Float64, 7, 0).Loop(t, small.Config())
	require.EqualError(t, l.UseBest(), "train: best parameters: got a loop without Config.KeepBest, want one with it")
	require.Zero(t, l.Best())
	c.EvalEvery = 2
	m := small.New(t, tensor.Float64, 7, 0)
	l = m.Loop(t, c)
	require.Equal(t, 2*8*m.Params.Count(), l.Memory().Weights)
	require.ErrorContains(t, l.Run(context.Background(), small.Batches(1), nil),
		"train: source to evaluate on: got nil, want one: Patience and KeepBest go by its loss")
}

func TestBestRefuses(t *testing.T) {
	for _, c := range []struct {
		want   string
		config loop.Config
	}{
		{"Patience: got -1, want at least 0", loop.Config{Patience: -1, EvalEvery: 1}},
		{"MinDelta: got -1, want a finite number of at least 0", loop.Config{MinDelta: -1, EvalEvery: 1}},
		{"MinDelta: got NaN, want a finite number of at least 0",
			loop.Config{Patience: 1, MinDelta: math.NaN(), EvalEvery: 1}},
		{"MinDelta: got 0.5 with Patience=0, want 0", loop.Config{MinDelta: 0.5, EvalEvery: 1}},
		{"Patience: got 2 with EvalEvery=0, want it with evaluations during the run", loop.Config{Patience: 2}},
		{"KeepBest: got true with EvalEvery=0, want it with evaluations during the run", loop.Config{KeepBest: true}},
	} {
		c.config.Steps, c.config.Schedule = 1, train.ConstantRate(1)
		require.EqualError(t, c.config.Validate(), c.want)
	}
}
