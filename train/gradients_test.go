package train_test

import (
	"testing"

	"attention/graph"
	"attention/internal/small"
	"attention/layers"
	"attention/train"
	"attention/train/loop"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Two parameters that are added have one gradient node, and the gradient of a parameter that is multiplied by an input
// is that input: both are clipped once, and the input stays unchanged.
func TestGradientsThatShareMemory(t *testing.T) {
	for _, accumulate := range []int{1, 2} {
		p := layers.NewParams(tensor.Float64, 1)
		names := []string{"a", "b", "c"}
		var params []layers.Param
		for _, name := range names {
			params = append(params, must(p.Scope("").Param(name, layers.Constant(1), 3)))
		}
		x := small.Vector(3, 0, 4)
		l := must(loop.New(p, func(b *layers.Build, in layers.Inputs) []*G.Node {
			sum := b.Of(graph.Add(b.Node(params[0]), b.Node(params[1])))
			y := b.Of(graph.Add(b.Of(graph.Mul(sum, in["x"])), b.Of(graph.Mul(b.Node(params[2]), in["x"]))))
			return b.Nodes(graph.Sum(y, graph.ReduceConfig{}))
		}, loop.Config{Steps: 2, StepConfig: train.StepConfig{Accumulate: accumulate, ClipNorm: 1,
			Schedule: train.ConstantRate(1), Solver: train.SolverConfig{Name: train.SGD}}}))
		batch := train.Batch{Inputs: train.Values{"x": x}, Tokens: 1}
		batches := []train.Batch{batch, batch}[:accumulate]
		const norm = 8.660254037844387 // for three gradients of norm 5
		for step := range 2 {
			require.InDelta(t, norm, must(l.Step(batches...)).GradNorm, 1e-12)
			for _, name := range names {
				v, _ := p.Get(name)
				moved := float64(step+1) / (norm + 1e-6)
				require.InDeltaSlice(t, []float64{1 - 3*moved, 1, 1 - 4*moved}, v.Float64s(), 1e-12)
			}
		}
		require.Equal(t, []float64{3, 0, 4}, x.Float64s())
	}
}
