package train_test

import (
	"context"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"attention/internal/small"
	"attention/layers"
	"attention/train"
	"attention/train/loop"
	"attention/train/text"
)

// stacked is one batch with the windows of several batches.
func stacked(batches ...train.Batch) train.Batch {
	var inputs, targets []int
	tokens := 0
	for _, b := range batches {
		inputs = append(inputs, b.Inputs[text.Inputs].Ints()...)
		targets = append(targets, b.Inputs[text.Targets].Ints()...)
		tokens += b.Tokens
	}
	rows := len(inputs) / small.ContextLength
	return train.Batch{Tokens: tokens, Inputs: map[string]*tensor.Dense{
		text.Inputs:  tensor.New(tensor.WithShape(rows, small.ContextLength), tensor.WithBacking(inputs)),
		text.Targets: tensor.New(tensor.WithShape(rows, small.ContextLength), tensor.WithBacking(targets)),
	}}
}

// Several batches give the steps of one large batch, with every solver, even if their numbers of targets differ.
func TestAccumulationEqualsTheBigBatch(t *testing.T) {
	const n = 4
	counts := []int{small.BatchSize * small.ContextLength, 4, 1, 11}
	for name, solver := range map[string]train.SolverConfig{
		"sgd": {Name: train.SGD}, "momentum": {Name: train.SGD, Momentum: 0.9},
		"adam": {Name: train.Adam}, "adamw": {WeightDecay: 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			c := small.Config()
			c.Solver, c.ClipNorm = solver, 2
			big, several := small.New(t, tensor.Float64, 7, 0), small.New(t, tensor.Float64, 7, 0)
			bigLoop := big.Loop(t, c)
			c.Accumulate = n
			smallLoop := several.Loop(t, c)
			for step := range uint64(small.Steps) {
				var parts []train.Batch
				for i, count := range counts {
					parts = append(parts, small.Ignore(small.Batch(step*n+uint64(i)), count))
				}
				want := must(bigLoop.Step(stacked(parts...)))
				got := must(smallLoop.Step(parts...))
				require.Equal(t, want.Step, got.Step)
				require.InEpsilon(t, want.Loss, got.Loss, 1e-13)
				require.InEpsilon(t, want.GradNorm, got.GradNorm, 1e-12)
			}
			now := several.Values()
			for name, want := range big.Values() {
				// Sums are in another order, and ten steps amplify the differences.
				require.InDeltaSlice(t, want, now[name], 1e-11, name)
			}
		})
	}
}

// A step of one batch has the same bits as a step without accumulation.
func TestAccumulateOneIsNoAccumulation(t *testing.T) {
	run := func(n int) map[string][]uint64 {
		m := small.New(t, tensor.Float32, 7, 0.3)
		c := small.Config()
		c.Accumulate = n
		require.NoError(t, m.Loop(t, c).Run(context.Background(), small.Batches(small.Steps), nil))
		return small.Bits(m.Values())
	}
	require.Equal(t, run(0), run(1))
}

// Every batch of every step has its own dropout masks, and evaluations between the steps do not change them.
func TestAccumulationDrawsNewDropout(t *testing.T) {
	const n = 3
	run := func(eval train.Source) map[string][]uint64 {
		m := small.New(t, tensor.Float64, 7, 0.3)
		keys := map[any]bool{}
		seen := func() { // for each batch, the key of the batch before
			if len(m.Builds) > 0 {
				keys[m.Builds[0].DropoutKey().Value().Data()] = true
			}
		}
		c := small.Config()
		c.Accumulate, c.EvalEvery = n, 1
		require.NoError(t, m.Loop(t, c).Run(context.Background(), &small.Watched{Source: small.Batches(n * small.Steps), Look: seen}, eval))
		seen()
		require.Len(t, keys, n*small.Steps)
		return small.Bits(m.Values())
	}
	require.Equal(t, run(nil), run(small.Batches(2)))
}

func TestAccumulationRefuses(t *testing.T) {
	c := small.Config()
	c.Accumulate = 3
	m := small.New(t, tensor.Float64, 7, 0.3)
	l := m.Loop(t, c)
	before := small.Bits(m.Values())
	_, err := l.Step(small.Batch(0), small.Batch(1))
	require.EqualError(t, err, "train: step 1: got 2 batches, want 3")
	empty := small.Batch(1)
	empty.Tokens = 0
	_, err = l.Step(small.Batch(0), empty, small.Batch(2))
	require.EqualError(t, err, "train: step 1: micro-batch 2 of 3: tokens: got 0, "+
		"want at least 1: the targets that count")
	err = l.Run(context.Background(), small.Batches(2), nil)
	require.EqualError(t, err, "train: step 1: micro-batch 3 of 3: batch: the source has ended, "+
		"want another batch: unexpected EOF")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, before, small.Bits(m.Values()))
	require.Zero(t, l.Steps())
}

// The error about a non-finite gradient names its batch, even if a later batch causes it.
func TestAccumulationNamesTheBatchThatIsNotFinite(t *testing.T) {
	p, w := weights(t, "w", 1, 2)
	loss := func(b *layers.Build, in layers.Inputs) []*G.Node {
		return b.Nodes(G.Sum(G.Must(G.Sqrt(G.Must(G.HadamardProd(b.Node(w), in["x"])))))) // infinite gradient at 0
	}
	c := small.Config()
	c.Accumulate = 3
	l := must(loop.New(p, loss, c))
	batch := func(x ...float64) train.Batch {
		return train.Batch{Tokens: 1, Inputs: map[string]*tensor.Dense{"x": small.Vector(x...)}}
	}
	for at, want := range []string{
		"train: step 1: micro-batch 1 of 3: ", "train: step 1: micro-batch 2 of 3: ", "train: step 1: micro-batch 3 of 3: ",
	} {
		batches := []train.Batch{batch(1, 2), batch(3, 4), batch(5, 6)}
		batches[at] = batch(0, 1)
		_, err := l.Step(batches...)
		require.ErrorIs(t, err, train.ErrNotFinite)
		require.ErrorContains(t, err, want+"gradient of w: got a norm of NaN, which is not finite; it began with ")
		batches[at] = batch(1, math.Inf(1))
		_, err = l.Step(batches...)
		require.EqualError(t, err, want+"loss: got +Inf, which is not finite; it began with x")
	}
	require.Equal(t, []float64{1, 1}, w.Value().Float64s())
	must(l.Step(batch(1, 2), batch(3, 4), batch(5, 6)))
}
