package train_test

import (
	"context"
	"io"
	"math"
	"path/filepath"
	"testing"

	"attention/layers"
	"attention/train"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// walk is a Resumable source of numbers, one a step, which the parameter of a walker takes
// on; the evaluation's loss is then the number's square.
type walk struct {
	numbers []float64
	at      int
}

func (w *walk) Next() (train.Batch, error) {
	w.at++
	return train.Batch{Inputs: train.Values{"x": vector(w.numbers[w.at-1])}, Tokens: 1}, nil
}

func (w *walk) State() []byte { return []byte{byte(w.at)} }

func (w *walk) SetState(state []byte) error {
	w.at = int(state[0])
	return nil
}

// walker returns a loop over (w − x)², whose steps set w to x, and w.
func walker(t *testing.T, c train.Config) (*train.Loop, *layers.Params) {
	p, w := weights(t, "w", 9, 1)
	loss := func(b *layers.Build) (*G.Node, error) {
		return b.Of(G.Sum(b.Of(G.Square(b.Of(G.Sub(b.Node(w), b.Input("x", 1))))))), b.Err()
	}
	c.Solver, c.Schedule = train.SolverConfig{Name: train.SGD}, train.ConstantRate(0.5)
	if c.EvalEvery == 0 {
		c.EvalEvery = 1
	}
	l, err := train.New(p, loss, c)
	require.NoError(t, err)
	return l, p
}

// zero is the source of evaluations: the loss is w².
func zero() train.Source {
	return &batches{list: []train.Batch{{Inputs: train.Values{"x": vector(0)}, Tokens: 1}}, end: io.EOF}
}

// value returns the walker's parameter.
func value(p *layers.Params) float64 {
	w, _ := p.Get("w")
	return w.Float64s()[0]
}

// walks are walks with their last and their best step.
var walks = []struct {
	reason      string
	numbers     []float64
	config      train.Config
	ended, best int
}{
	{reason: "no patience: all steps", numbers: []float64{4, 2, 3, 5, 6}, ended: 5, best: 2},
	{reason: "two in a row are worse", numbers: []float64{4, 2, 3, 5, 1},
		config: train.Config{Patience: 2}, ended: 4, best: 2},
	{reason: "in a row", numbers: []float64{4, 5, 3, 5, 2, 5, 1},
		config: train.Config{Patience: 2}, ended: 7, best: 7},
	{reason: "an equal loss is no improvement", numbers: []float64{4, 3, -3, 3, 1},
		config: train.Config{Patience: 2}, ended: 4, best: 2},
	{reason: "improvements that are too small, but the best is the best", numbers: []float64{4, 3.9, 3.8, 3.7, 1},
		config: train.Config{Patience: 3, MinDelta: 5}, ended: 4, best: 4},
	{reason: "small ones add up: 16 − 3.3² > 5", numbers: []float64{4, 3.8, 3.3, 3.2, 3.1, 3},
		config: train.Config{Patience: 3, MinDelta: 5}, ended: 6, best: 6},
	{reason: "every other step", numbers: []float64{1, 4, 0, 5, 0, 6, 1, 1},
		config: train.Config{Patience: 2, EvalEvery: 2}, ended: 6, best: 2},
	{reason: "the last step ends it too", numbers: []float64{4, 3, 2},
		config: train.Config{Patience: 1}, ended: 3, best: 3},
	{reason: "the last evaluation is between", numbers: []float64{4, 3, 2},
		config: train.Config{Patience: 1, EvalEvery: 2}, ended: 3, best: 3},
}

func TestBestAndPatience(t *testing.T) {
	for _, c := range walks {
		c.config.Steps, c.config.KeepBest = len(c.numbers), true
		l, p := walker(t, c.config)
		require.Zero(t, l.Best())
		require.EqualError(t, l.UseBest(), "train: best parameters: got no evaluation, want one of Run", c.reason)
		require.NoError(t, l.Run(context.Background(), &walk{numbers: c.numbers}, zero()), c.reason)
		require.Equal(t, c.ended, l.Steps(), c.reason)
		lowest := c.numbers[c.best-1]
		require.Equal(t, train.Evaluation{Step: c.best, Loss: lowest * lowest, Tokens: 1}, l.Best(), c.reason)
		require.Equal(t, c.numbers[c.ended-1], value(p), "%s: the last ones until UseBest", c.reason)
		require.NoError(t, l.UseBest(), c.reason)
		require.Equal(t, lowest, value(p), c.reason)
		e, err := l.Evaluate(context.Background(), zero())
		require.NoError(t, err)
		require.Equal(t, l.Best(), e, c.reason)
	}
}

// A run that is stopped anywhere, and resumed, ends at the same step with the same best parameters.
func TestBestAndPatienceResume(t *testing.T) {
	for _, c := range walks {
		for every := range 4 {
			for stop := 1; stop < c.ended; stop++ {
				c.config.Steps, c.config.KeepBest = len(c.numbers), true
				ctx, cancel := context.WithCancel(context.Background())
				checkpoints := openCheckpoints(t, t.TempDir(), train.CheckpointsConfig{Every: every})
				stopped := c.config
				stopped.OnStep = func(s train.StepResult) {
					if s.Step == stop {
						cancel()
					}
				}
				l, _ := walker(t, stopped)
				l.SaveTo(checkpoints)
				require.ErrorIs(t, l.Run(ctx, &walk{numbers: c.numbers}, zero()), context.Canceled)
				require.Equal(t, stop, l.Steps())

				l, p := walker(t, c.config)
				l.SaveTo(checkpoints)
				source := &walk{numbers: c.numbers}
				found, err := checkpoints.Restore(l, source)
				require.NoError(t, err)
				require.True(t, found)
				require.NoError(t, l.Run(context.Background(), source, zero()))
				require.Equal(t, c.ended, l.Steps(), "%s, stopped after %d", c.reason, stop)
				require.Equal(t, c.best, l.Best().Step, "%s, stopped after %d", c.reason, stop)
				steps := stepsIn(t, checkpoints)
				require.Equal(t, c.ended, steps[len(steps)-1], c.reason)
				require.NoError(t, l.UseBest())
				require.Equal(t, c.numbers[c.best-1], value(p), "%s, stopped after %d", c.reason, stop)
			}
		}
	}
}

// A run that has ended early continues with more patience, from its last parameters, not the best.
func TestMorePatience(t *testing.T) {
	numbers := []float64{4, 2, 3, 5, 1, 6}
	path := filepath.Join(t.TempDir(), "checkpoint")
	l, _ := walker(t, train.Config{Steps: 6, Patience: 2, KeepBest: true})
	source := &walk{numbers: numbers}
	require.NoError(t, l.Run(context.Background(), source, zero()))
	require.NoError(t, l.Save(path, source))
	require.NoError(t, l.UseBest())
	const refused = "train: loop: got the parameters of UseBest, of step 2, want those of step 4: Restore them"
	require.EqualError(t, l.Run(context.Background(), source, zero()), refused)
	require.EqualError(t, l.Save(path, source), refused)
	_, err := l.Step(train.Batch{})
	require.EqualError(t, err, refused)
	require.NoError(t, l.Restore(path, source))
	require.NoError(t, l.Run(context.Background(), source, zero()))
	require.Equal(t, 4, l.Steps(), "no more patience")

	l, p := walker(t, train.Config{Steps: 6, Patience: 3, KeepBest: true})
	require.NoError(t, l.Restore(path, source))
	require.Equal(t, 5.0, value(p))
	require.NoError(t, l.Run(context.Background(), source, zero()))
	require.Equal(t, []int{6, 5}, []int{l.Steps(), l.Best().Step})
}

// Evaluations that look for the best change nothing of the training.
func TestBestChangesNoBits(t *testing.T) {
	run := func(c train.Config) map[string][]uint64 {
		c.EvalEvery = 2
		m := newModel(t, tensor.Float32, 7, 0.3)
		require.NoError(t, m.loop(t, c).Run(context.Background(), randomBatches(trainedSteps), randomBatches(2)))
		return bitsOf(m.values())
	}
	want := run(config())
	c := config()
	c.Patience, c.MinDelta, c.KeepBest = 100, 0.1, true
	require.Equal(t, want, run(c))

	l := newModel(t, tensor.Float64, 7, 0).loop(t, config())
	require.EqualError(t, l.UseBest(), "train: best parameters: got a loop without Config.KeepBest, want one with it")
	require.Zero(t, l.Best())
	c.EvalEvery = 2
	m := newModel(t, tensor.Float64, 7, 0)
	l = m.loop(t, c)
	require.Equal(t, 2*8*m.params.Count(), l.Memory().Weights)
	require.ErrorContains(t, l.Run(context.Background(), randomBatches(1), nil),
		"train: source to evaluate on: got nil, want one: Patience and KeepBest go by its loss")
}

func TestBestRefuses(t *testing.T) {
	for _, c := range []struct {
		want   string
		config train.Config
	}{
		{want: "Patience: got -1, want at least 0", config: train.Config{Patience: -1, EvalEvery: 1}},
		{want: "MinDelta: got -1, want a finite number of at least 0", config: train.Config{MinDelta: -1, EvalEvery: 1}},
		{want: "MinDelta: got NaN, want a finite number of at least 0",
			config: train.Config{Patience: 1, MinDelta: math.NaN(), EvalEvery: 1}},
		{want: "MinDelta: got 0.5 with Patience=0, want 0", config: train.Config{MinDelta: 0.5, EvalEvery: 1}},
		{want: "Patience: got 2 with EvalEvery=0, want it with evaluations during the run",
			config: train.Config{Patience: 2}},
		{want: "KeepBest: got true with EvalEvery=0, want it with evaluations during the run",
			config: train.Config{KeepBest: true}},
	} {
		c.config.Steps, c.config.Schedule = 1, train.ConstantRate(1)
		require.EqualError(t, c.config.Validate(), c.want)
	}
}
