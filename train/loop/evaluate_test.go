package loop_test

import (
	"context"
	"errors"
	"io"
	"math"
	"testing"

	"attention/graph"
	"attention/internal/small"
	"attention/layers"
	"attention/train"
	"attention/train/loop"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func TestEvaluateIsTheMeanOverTokens(t *testing.T) {
	list := []train.Batch{small.Batch(0), small.Ignore(small.Batch(1), 4), small.Ignore(small.Batch(2), 1)}
	source := &small.List{List: list, End: io.EOF}
	sum, tokens := 0.0, 0
	for _, b := range source.List {
		s, err := small.New(t, tensor.Float64, 1, 0).Loop(t, small.Config()).Step(b) // a loss before the update
		require.NoError(t, err)
		sum += s.Loss * float64(b.Tokens)
		tokens += b.Tokens
	}
	l := small.New(t, tensor.Float64, 1, 0).Loop(t, small.Config())
	for range 2 {
		e := must(l.Evaluate(context.Background(), source))
		require.Equal(t, loop.Evaluation{Step: 0, Loss: sum / float64(tokens), Tokens: tokens}, e)
	}
	must(l.Step(small.Batch(0)))
	e := must(l.Evaluate(context.Background(), source))
	require.Equal(t, 1, e.Step)
	require.NotEqual(t, sum/float64(tokens), e.Loss, "the evaluation graph sees the new values")
}

// The last tokens of a text, which do not fill a batch, count as a batch of their own.
func TestEvaluateSeesAWholeText(t *testing.T) {
	ids := make([]int, 53)
	for i := range ids {
		ids[i] = i * i % small.Vocabulary
	}
	s := must(text.NewEpoch(ids, text.WindowConfig{Batch: small.BatchSize, Context: small.ContextLength}))
	l := small.New(t, tensor.Float64, 1, 0).Loop(t, small.Config())
	e := must(l.Evaluate(context.Background(), s))
	require.Equal(t, len(ids)-1, e.Tokens)

	// The same windows, each alone in a batch whose other rows are ignored.
	alone := &small.List{End: io.EOF}
	for start := 0; start < len(ids)-1; start += small.ContextLength {
		inputs, targets := make([]int, small.BatchSize*small.ContextLength), make([]int, small.BatchSize*small.ContextLength)
		for i := range targets {
			targets[i] = graph.IgnoreTarget
		}
		copy(inputs[small.ContextLength:2*small.ContextLength], ids[start:])
		copy(targets[small.ContextLength:2*small.ContextLength], ids[start+1:])
		alone.List = append(alone.List, small.TextBatch(inputs, targets))
	}
	a := must(l.Evaluate(context.Background(), alone))
	require.Equal(t, e.Tokens, a.Tokens)
	require.InDelta(t, a.Loss, e.Loss, 1e-14) // the sum has another order
}

func TestEvaluationChangesNothing(t *testing.T) {
	run := func(eval train.Source) (*small.Model, []float64) {
		m := small.New(t, tensor.Float32, 7, 0.3)
		var losses []float64
		c := small.Config()
		c.EvalEvery = 1
		c.OnStep = func(s train.StepResult) { losses = append(losses, s.Loss) }
		c.OnEval = func(e loop.Evaluation) { require.NotEqual(t, losses[len(losses)-1], e.Loss) }
		l := m.Loop(t, c)
		require.NoError(t, l.Run(context.Background(), small.Batches(small.Steps), eval))
		return m, losses
	}
	without, losses := run(nil)
	with, lossesWith := run(small.Batches(3))
	require.Equal(t, losses, lossesWith, "the dropout of the steps is the same")
	require.Equal(t, small.Bits(without.Values()), small.Bits(with.Values()))
}

func TestEvaluationGraphHasNoDropout(t *testing.T) {
	with, without := small.New(t, tensor.Float64, 7, 0.5), small.New(t, tensor.Float64, 7, 0)
	l := with.Loop(t, small.Config())
	e := must(l.Evaluate(context.Background(), small.Batches(2)))
	require.Equal(t, must(without.Loop(t, small.Config()).Evaluate(context.Background(), small.Batches(2))), e)

	must(l.Step(small.Batch(0)))
	require.Len(t, with.Builds, 2)
	for i, mode := range []layers.Mode{layers.Eval, layers.Train} {
		b := with.Builds[i]
		require.Equal(t, mode, b.Mode())
		require.Equal(t, mode == layers.Train, b.DropoutKey() != nil)
	}
	must(l.Evaluate(context.Background(), small.Batches(2)))
	require.Len(t, with.Builds, 2, "built once")
}

func TestEvaluateNamesWhatIsWrong(t *testing.T) {
	disk := errors.New("disk on fire")
	m := small.New(t, tensor.Float64, 1, 0)
	l := m.Loop(t, small.Config())
	must(l.Step(small.Batch(0)))
	before := small.Bits(m.Values())
	evaluate := func(s train.Source) error {
		e, err := l.Evaluate(context.Background(), s)
		require.Zero(t, e)
		return err
	}
	require.EqualError(t, evaluate(nil), "train: source to evaluate on: got nil, want one")
	require.EqualError(t, evaluate(small.Batches(0)),
		"train: evaluation after 1 steps: source: got no batch, want at least one")
	err := evaluate(&small.List{List: small.Batches(1).List, End: disk})
	require.EqualError(t, err, "train: evaluation after 1 steps: batch: disk on fire")
	require.ErrorIs(t, err, disk)
	require.EqualError(t, evaluate(&small.List{List: []train.Batch{{Inputs: small.Batch(0).Inputs}}}),
		"train: evaluation after 1 steps: batch: tokens: got 0, want at least 1: the targets that count")
	require.EqualError(t, evaluate(&small.List{List: []train.Batch{{Tokens: 1}}}),
		"train: evaluation after 1 steps: "+
			"layers: func of no values: chapter: LanguageModel: ids: got nil, want a node")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = l.Evaluate(ctx, small.Batches(1))
	require.EqualError(t, err, "train: evaluation after 1 steps: stopped: context canceled")
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, before, small.Bits(m.Values()))

	require.NoError(t, m.Params.Set("output.bias", infinite(small.Vocabulary)))
	err = evaluate(small.Batches(1))
	require.EqualError(t, err,
		"train: evaluation after 1 steps: loss: got NaN, which is not finite; it began with output.bias")
	require.ErrorIs(t, err, train.ErrNotFinite)
}

// A loss that cannot be evaluated fails before the first step, not at the first evaluation.
func TestRunBuildsTheEvaluationFirst(t *testing.T) {
	m := small.New(t, tensor.Float64, 1, 0)
	loss := func(b *layers.Build, in layers.Inputs) []*G.Node {
		if b.Mode() == layers.Eval {
			return b.Nodes(nil, io.EOF)
		}
		return m.Loss(b, in)
	}
	l := must(loop.New(m.Params, loss, small.Config()))
	err := l.Run(context.Background(), small.Texts(t)["random"], small.Batches(1))
	require.EqualError(t, err, "layers: func of inputs int (3, 5), targets int (3, 5): EOF")
	require.Zero(t, l.Steps())
	require.NoError(t, l.Run(context.Background(), small.Batches(small.Steps), nil))
}

func infinite(n int) *tensor.Dense {
	d := small.Zeros(tensor.Float64, n)
	d.Memset(math.Inf(1))
	return d
}

// An evaluation that was interrupted starts over with a Resumable source.
func TestEvaluationStartsOver(t *testing.T) {
	ids := make([]int, 60)
	s := must(text.NewEpoch(ids, text.WindowConfig{Batch: small.BatchSize, Context: small.ContextLength}))
	l := small.New(t, tensor.Float64, 1, 0).Loop(t, small.Config())
	want := must(l.Evaluate(context.Background(), s))
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	_, err := l.Evaluate(ctx, watchedResumable{s, func() {
		if calls++; calls == 3 {
			cancel()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, want, must(l.Evaluate(context.Background(), s)))
}

type watchedResumable struct {
	train.Resumable
	look func()
}

func (w watchedResumable) Next() (train.Batch, error) {
	w.look()
	return w.Resumable.Next()
}
