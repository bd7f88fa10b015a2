package train_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"testing"

	"attention/train"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func TestContextStopsBetweenSteps(t *testing.T) {
	whole := newModel(t, tensor.Float32, 7, 0.3)
	require.NoError(t, whole.loop(t, config()).Run(context.Background(), randomBatches(trainedSteps), nil))

	m := newModel(t, tensor.Float32, 7, 0.3)
	ctx, cancel := context.WithCancel(context.Background())
	c := config()
	c.OnStep = func(s train.StepResult) {
		if s.Step == 4 {
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
			events = append(events, fmt.Sprint("step ", n+1))
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
		{every: 0, want: all()},
		{every: 3, want: all()},
		{every: 0, eval: randomBatches(2), want: all(10)},
		{every: 1, eval: randomBatches(2), want: all(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)},
		{every: 4, eval: randomBatches(2), want: all(4, 8, 10)},
		{every: 5, eval: randomBatches(2), want: all(5, 10)},
		{every: 99, eval: randomBatches(2), want: all(10)},
	} {
		var events []string
		c := config()
		c.EvalEvery = row.every
		c.OnStep = func(s train.StepResult) {
			events = append(events, fmt.Sprint("step ", s.Step))
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

func TestRunNamesWhatIsWrongWithItsSource(t *testing.T) {
	disk := errors.New("disk on fire")
	m := newModel(t, tensor.Float32, 1, 0)
	l := m.loop(t, config())
	err := l.Run(context.Background(), &batches{list: randomBatches(2).list, end: disk}, nil)
	require.EqualError(t, err, "train: step 3: batch: disk on fire")
	require.ErrorIs(t, err, disk)
	require.Equal(t, 2, l.Steps())

	err = l.Run(context.Background(), randomBatches(3), nil)
	require.EqualError(t, err, "train: step 6: batch: the source has ended, want another batch: unexpected EOF")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)

	require.EqualError(t, l.Run(context.Background(), nil, nil), "train: source to train on: got nil, want one")
}

// A run leaves its newest checkpoints, and removes older ones only after a save.
func TestRunSavesCheckpoints(t *testing.T) {
	for _, row := range []struct {
		reason      string
		every, keep int
		before      [][]int // the checkpoints before each save
		after       []int
	}{
		{reason: "only the end", every: 0, keep: 0, before: [][]int{nil}, after: []int{10}},
		{reason: "only the newest stays", every: 4, keep: 1, before: [][]int{nil, {4}, {8}}, after: []int{10}},
		{reason: "two stay by default", every: 3, keep: 0, before: [][]int{nil, {3}, {3, 6}, {6, 9}}, after: []int{9, 10}},
		{reason: "the end is a multiple", every: 5, keep: 9, before: [][]int{nil, {5}}, after: []int{5, 10}},
		{reason: "longer than the run", every: 99, keep: 3, before: [][]int{nil}, after: []int{10}},
	} {
		folder := filepath.Join(t.TempDir(), "a", "b")
		checkpoints := openCheckpoints(t, folder, train.CheckpointsConfig{Every: row.every, Keep: row.keep})
		c := config()
		c.EvalEvery = 1
		var before [][]int
		evaluated, evaluations := 0, 0
		c.OnEval = func(e train.Evaluation) { evaluated = e.Step; evaluations++ }
		c.BeforeSave = func() (map[string]string, error) {
			before = append(before, stepsIn(t, checkpoints))
			if row.every > 0 && len(before) < len(row.before) {
				require.Equal(t, row.every*len(before), evaluated, "the evaluation comes first")
			}
			return nil, nil
		}
		l := newModel(t, tensor.Float32, 1, 0.1).loop(t, c)
		l.SaveTo(checkpoints)
		require.NoError(t, l.Run(context.Background(), textSources(t)["random"], randomBatches(1)))
		require.Equal(t, row.before, before, row.reason)
		require.Equal(t, row.after, stepsIn(t, checkpoints), row.reason)
		require.NoError(t, l.Run(context.Background(), textSources(t)["random"], randomBatches(1)))
		require.Len(t, before, len(row.before), "nothing new to save")
		require.Equal(t, trainedSteps, evaluations, "nor to evaluate")
	}
}

// However often a run is stopped, between steps or in an evaluation, its losses and its
// weights are the same.
func TestStoppedRunResumes(t *testing.T) {
	run := func(stops bool) (shown trail, ends map[string][]uint64) {
		folder := t.TempDir()
		for pass := 0; ; pass++ {
			checkpoints, err := train.OpenCheckpoints(folder, train.CheckpointsConfig{Every: 4})
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(context.Background())
			c := config()
			c.Accumulate, c.EvalEvery = 2, 2
			shown.follow(&c)
			m, source := newModel(t, tensor.Float32, 7, 0.3), textSources(t)["random"]
			eval := &watched{randomBatches(2), func() {}}
			if stops && pass%2 == 0 { // in the middle of the next evaluation
				calls := 0
				eval.look = func() {
					if calls++; calls == 2 {
						cancel()
					}
				}
			} else if stops { // after the next step
				follow := c.OnStep
				c.OnStep = func(s train.StepResult) { follow(s); cancel() }
			}
			l := m.loop(t, c)
			l.SaveTo(checkpoints)
			found, err := checkpoints.Restore(l, source)
			require.NoError(t, err)
			require.Equal(t, pass > 0, found)
			err = l.Run(ctx, source, eval)
			cancel()
			require.NoError(t, checkpoints.Close())
			if err == nil {
				require.Equal(t, stops, pass > 5)
				return shown, bitsOf(m.values())
			}
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, l.Steps(), stepsIn(t, checkpoints)[len(stepsIn(t, checkpoints))-1])
		}
	}
	wantShown, wantEnds := run(false)
	shown, ends := run(true)
	require.Equal(t, wantShown, shown)
	require.Equal(t, wantEnds, ends)
}

// A run that goes wrong saves nothing more, and what it had saved stays.
func TestFailedRunKeepsItsCheckpoints(t *testing.T) {
	disk := errors.New("disk on fire")
	for _, row := range []struct {
		reason string
		spoil  func(c *train.Config, m *model)
		want   string
	}{
		{reason: "BeforeSave fails", spoil: func(c *train.Config, _ *model) {
			saves := 0
			c.BeforeSave = func() (map[string]string, error) {
				if saves++; saves == 3 {
					return nil, disk
				}
				return nil, nil
			}
		}, want: "train: checkpoint after 6 steps: disk on fire"},
		{reason: "a loss is NaN", spoil: func(c *train.Config, m *model) {
			c.OnStep = func(s train.StepResult) {
				if s.Step == 5 {
					require.NoError(t, m.params.Set("tokens.weight", notNumbers(vocabulary, width)))
				}
			}
		}, want: "train: step 6: loss: got NaN, which is not finite; it began with tokens.weight"},
		{reason: "the update of the last step before a checkpoint overflows", spoil: func(c *train.Config, m *model) {
			c.OnStep = func(s train.StepResult) {
				if s.Step == 6 {
					require.NoError(t, m.params.Set("output.bias", infinite(vocabulary)))
				}
			}
		}, want: "train: checkpoint after 6 steps: parameter output.bias: has values that are not finite"},
	} {
		checkpoints := openCheckpoints(t, t.TempDir(), train.CheckpointsConfig{Every: 2})
		c, m := config(), newModel(t, tensor.Float64, 7, 0.3)
		row.spoil(&c, m)
		l := m.loop(t, c)
		l.SaveTo(checkpoints)
		require.EqualError(t, l.Run(context.Background(), textSources(t)["random"], nil), row.want, row.reason)
		require.Equal(t, []int{2, 4}, stepsIn(t, checkpoints))
		found, err := checkpoints.Restore(l, textSources(t)["random"])
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, 4, l.Steps())
	}
}

func notNumbers(shape ...int) *tensor.Dense {
	d := zeros(tensor.Float64, shape...)
	d.Memset(math.NaN())
	return d
}
