package loop_test

import (
	"testing"

	"attention/internal/small"
	"attention/train"
	"attention/train/loop"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// TestMemory: each part is counted: Adam stores two numbers per weight and a step count, momentum one number, and
// several batches per step need a sum of gradients.
func TestMemory(t *testing.T) {
	m := small.New(t, tensor.Float64, 1, 0)
	weights := 8 * m.Params.Count()
	memory := func(c loop.Config) train.Memory {
		c.Steps, c.Schedule = 1, train.ConstantRate(1)
		l := must(loop.New(m.Params, m.Loss, c))
		require.Zero(t, l.Memory().Graphs)
		source := small.Texts(t)["random"]
		at := source.State()
		require.NoError(t, l.Prepare(source, nil))
		require.Equal(t, at, source.State())
		return l.Memory()
	}
	adam := memory(loop.Config{})
	require.Equal(t, []int{weights, weights}, []int{adam.Weights, adam.Gradients})
	require.InDelta(t, 2*weights, adam.Solver, float64(8*m.Params.Len()))
	logits := 8 * small.BatchSize * small.ContextLength * small.Vocabulary
	require.Greater(t, adam.Graphs, logits)
	momentum := memory(loop.Config{
		StepConfig: train.StepConfig{Accumulate: 2, Solver: train.SolverConfig{Name: train.SGD, Momentum: 0.5}}})
	require.Equal(t, []int{weights, 2 * weights}, []int{momentum.Weights, momentum.Gradients})
	require.InDelta(t, weights, momentum.Solver, float64(8*m.Params.Len()))
	require.Equal(t, adam.Graphs, momentum.Graphs)
}
