package machine_test

import (
	"math"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A run of this module's and Gorgonia's ops, with losses of both, allocates nothing.
func TestRunAllocatesNothing(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		g := G.NewGraph()
		x, w := input(g, "x", ramp(dt, 2, 16, 24)), input(g, "w", ramp(dt, 24, 24))
		gain, bias := input(g, "gain", ramp(dt, 24)), input(g, "bias", ramp(dt, 24))
		h := must(t)(graph.MatMul(must(t)(graph.LayerNorm(x, gain, bias, 1e-5)), w))
		h = must(t)(graph.GELU(h))
		rows := must(t)(G.Reshape(h, tensor.Shape{32, 24}))
		rows = must(t)(G.Tanh(must(t)(G.Mul(rows, w))))
		ids := make([]int64, 32)
		targets := G.NewVector(g, tensor.Int64, G.WithShape(32), G.WithName("targets"),
			G.WithValue(tensor.New(tensor.WithBacking(ids))))
		entropy := must(t)(graph.CrossEntropy(rows, targets, graph.CrossEntropyConfig{}))
		square := must(t)(graph.MSE(h, x, graph.LossConfig{}))
		mean := must(t)(G.Mean(must(t)(G.Square(rows))))
		loss := must(t)(graph.Add(must(t)(G.Add(entropy, mean)), square))
		grads, err := G.Grad(loss, x, w, gain, bias)
		require.NoError(t, err)
		m, err := machine.New(append(grads, loss)...)
		require.NoError(t, err)
		requireNoAllocations(t, m)
	}
}

// requireNoAllocations requires that at least some of several runs of a machine allocate nothing: the garbage collector
// empties pools at times. The race detector makes sync.Pool drop objects.
func requireNoAllocations(t *testing.T, m *machine.Machine) {
	t.Helper()
	if testenv.Race {
		return
	}
	least := math.Inf(1)
	for tries := 0; tries < 1000 && least > 0; tries++ {
		least = min(least, testing.AllocsPerRun(1, func() {
			if err := m.RunAll(); err != nil {
				t.Fatal(err)
			}
		}))
	}
	require.Zero(t, least, "allocations of a run")
}
