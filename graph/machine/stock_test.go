package machine_test

import (
	"math"
	"runtime"
	"testing"

	"attention/graph"
	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Gradients that flow into one node are added in planned memory.
func TestSumsOfGradientsArePlanned(t *testing.T) {
	g := G.NewGraph()
	x, y := input(g, "x", ramp(tensor.Float32, 64, 64)), input(g, "y", ramp(tensor.Float32, 64, 64))
	a := must(t)(graph.MatMul(x, y))
	cost := must(t)(graph.Mul(must(t)(graph.MatMul(a, x)), must(t)(graph.MatMul(x, a))))
	up := input(g, "up", ramp(tensor.Float32, 64, 64))
	grads, err := G.Backpropagate(G.Nodes{cost}, G.Nodes{up}, G.Nodes{x, y})
	require.NoError(t, err)
	m, err := machine.New(grads...)
	require.NoError(t, err)
	// At least one run allocates nothing except by chance: pools lose memory to the collector and, at random, to the race
	// detector. A sum without planned memory would allocate in every run.
	least := uint64(math.MaxUint64)
	for range 1000 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.NoError(t, m.RunAll())
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	require.Less(t, least, uint64(64*64*4), "less than a single intermediate")
}
