package loop_test

import (
	"context"
	"errors"
	"fmt"
	"io"
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

func TestContextStopsBetweenSteps(t *testing.T) {
	whole := small.New(t, tensor.Float32, 7, 0.3)
	require.NoError(t, whole.Loop(t, small.Config()).Run(context.Background(), small.Batches(small.Steps), nil))

	m := small.New(t, tensor.Float32, 7, 0.3)
	ctx, cancel := context.WithCancel(context.Background())
	c := small.Config()
	c.OnStep = func(s train.StepResult) {
		if s.Step == 4 {
			cancel()
		}
	}
	l, source := m.Loop(t, c), small.Batches(small.Steps)
	err := l.Run(ctx, source, nil)
	require.EqualError(t, err, "train: stopped after 4 of 10 steps: context canceled")
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 4, l.Steps())
	require.Equal(t, 4, source.At, "no batch is drawn in vain")

	require.NoError(t, l.Run(context.Background(), source, nil)) // and on
	require.Equal(t, small.Steps, l.Steps())
	require.Equal(t, small.Bits(whole.Values()), small.Bits(m.Values()))
	require.NoError(t, l.Run(ctx, source, nil), "nothing is left to be stopped")
}

func TestRunCallsBack(t *testing.T) {
	all := func(evals ...int) (events []string) {
		for n := range small.Steps {
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
		{every: 0, eval: small.Batches(2), want: all(10)},
		{every: 1, eval: small.Batches(2), want: all(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)},
		{every: 4, eval: small.Batches(2), want: all(4, 8, 10)},
		{every: 5, eval: small.Batches(2), want: all(5, 10)},
		{every: 99, eval: small.Batches(2), want: all(10)},
	} {
		var events []string
		c := small.Config()
		c.EvalEvery = row.every
		c.OnStep = func(s train.StepResult) {
			events = append(events, fmt.Sprint("step ", s.Step))
			require.Equal(t, small.LearningRate, s.LearningRate)
			require.Positive(t, s.TokensPerSecond)
			require.Positive(t, s.GradNorm)
		}
		c.OnEval = func(e loop.Evaluation) {
			events = append(events, fmt.Sprint("eval ", e.Step))
			require.Equal(t, 2*small.BatchSize*small.ContextLength, e.Tokens)
			require.Positive(t, e.Loss)
		}
		m := small.New(t, tensor.Float32, 1, 0)
		require.NoError(t, m.Loop(t, c).Run(context.Background(), small.Batches(small.Steps), row.eval))
		require.Equal(t, row.want, events)

		c.OnStep, c.OnEval = nil, nil
		require.NoError(t, m.Loop(t, c).Run(context.Background(), small.Batches(small.Steps), row.eval))
	}
}

func TestRunNamesWhatIsWrongWithItsSource(t *testing.T) {
	disk := errors.New("disk on fire")
	m := small.New(t, tensor.Float32, 1, 0)
	l := m.Loop(t, small.Config())
	err := l.Run(context.Background(), &small.List{List: small.Batches(2).List, End: disk}, nil)
	require.EqualError(t, err, "train: step 3: batch: disk on fire")
	require.ErrorIs(t, err, disk)
	require.Equal(t, 2, l.Steps())

	err = l.Run(context.Background(), small.Batches(3), nil)
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
		checkpoints := small.OpenFolder(t, folder, checkpoint.Config{Every: row.every, Keep: row.keep})
		c := small.Config()
		c.EvalEvery = 1
		var before [][]int
		evaluated, evaluations := 0, 0
		c.OnEval = func(e loop.Evaluation) { evaluated = e.Step; evaluations++ }
		c.BeforeSave = func() (map[string]string, error) {
			before = append(before, small.StepsIn(t, checkpoints))
			if row.every > 0 && len(before) < len(row.before) {
				require.Equal(t, row.every*len(before), evaluated, "the evaluation comes first")
			}
			return nil, nil
		}
		l := small.New(t, tensor.Float32, 1, 0.1).Loop(t, c)
		l.SaveTo(checkpoints)
		require.NoError(t, l.Run(context.Background(), small.Texts(t)["random"], small.Batches(1)))
		require.Equal(t, row.before, before, row.reason)
		require.Equal(t, row.after, small.StepsIn(t, checkpoints), row.reason)
		require.NoError(t, l.Run(context.Background(), small.Texts(t)["random"], small.Batches(1)))
		require.Len(t, before, len(row.before), "nothing new to save")
		require.Equal(t, small.Steps, evaluations, "nor to evaluate")
	}
}

// A run that is stopped any number of times, between steps or in an evaluation, has the same losses and weights.
func TestStoppedRunResumes(t *testing.T) {
	run := func(stops bool) (shown small.Trail, ends map[string][]uint64) {
		folder := t.TempDir()
		for pass := 0; ; pass++ {
			checkpoints := must(checkpoint.Open(folder, checkpoint.Config{Every: 4}))
			ctx, cancel := context.WithCancel(context.Background())
			c := small.Config()
			c.Accumulate, c.EvalEvery = 2, 2
			shown.Follow(&c)
			m, source := small.New(t, tensor.Float32, 7, 0.3), small.Texts(t)["random"]
			eval := &small.Watched{Source: small.Batches(2), Look: func() {}}
			if stops && pass%2 == 0 { // in the middle of the next evaluation
				calls := 0
				eval.Look = func() {
					if calls++; calls == 2 {
						cancel()
					}
				}
			} else if stops { // after the next step
				follow := c.OnStep
				c.OnStep = func(s train.StepResult) { follow(s); cancel() }
			}
			l := m.Loop(t, c)
			l.SaveTo(checkpoints)
			require.Equal(t, pass > 0, must(checkpoints.Restore(l, source)) != nil)
			err := l.Run(ctx, source, eval)
			cancel()
			require.NoError(t, checkpoints.Close())
			if err == nil {
				require.Equal(t, stops, pass > 5)
				return shown, small.Bits(m.Values())
			}
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, l.Steps(), small.StepsIn(t, checkpoints)[len(small.StepsIn(t, checkpoints))-1])
		}
	}
	wantShown, wantEnds := run(false)
	shown, ends := run(true)
	require.Equal(t, wantShown, shown)
	require.Equal(t, wantEnds, ends)
}

// A run saves nothing after an error, and its earlier checkpoints stay.
func TestFailedRunKeepsItsCheckpoints(t *testing.T) {
	disk := errors.New("disk on fire")
	for _, row := range []struct {
		reason string
		spoil  func(c *loop.Config, m *small.Model)
		want   string
	}{
		{reason: "BeforeSave fails", spoil: func(c *loop.Config, _ *small.Model) {
			saves := 0
			c.BeforeSave = func() (map[string]string, error) {
				if saves++; saves == 3 {
					return nil, disk
				}
				return nil, nil
			}
		}, want: "train: checkpoint after 6 steps: disk on fire"},
		{reason: "a loss is NaN", spoil: func(c *loop.Config, m *small.Model) {
			c.OnStep = func(s train.StepResult) {
				if s.Step == 5 {
					require.NoError(t, m.Params.Set("tokens.weight", notNumbers(small.Vocabulary, small.Width)))
				}
			}
		}, want: "train: step 6: loss: got NaN, which is not finite; it began with tokens.weight"},
		{reason: "the update of the last step before a checkpoint overflows", spoil: func(c *loop.Config, m *small.Model) {
			c.OnStep = func(s train.StepResult) {
				if s.Step == 6 {
					require.NoError(t, m.Params.Set("output.bias", infinite(small.Vocabulary)))
				}
			}
		}, want: "train: checkpoint after 6 steps: parameter output.bias: has values that are not finite"},
	} {
		checkpoints := small.OpenFolder(t, t.TempDir(), checkpoint.Config{Every: 2})
		c, m := small.Config(), small.New(t, tensor.Float64, 7, 0.3)
		row.spoil(&c, m)
		l := m.Loop(t, c)
		l.SaveTo(checkpoints)
		require.EqualError(t, l.Run(context.Background(), small.Texts(t)["random"], nil), row.want, row.reason)
		require.Equal(t, []int{2, 4}, small.StepsIn(t, checkpoints))
		require.NotNil(t, must(checkpoints.Restore(l, small.Texts(t)["random"])))
		require.Equal(t, 4, l.Steps())
	}
}

func notNumbers(shape ...int) *tensor.Dense {
	d := small.Zeros(tensor.Float64, shape...)
	d.Memset(math.NaN())
	return d
}
