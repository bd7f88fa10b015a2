package machine_test

import (
	"fmt"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// attending returns a loss of an attention over n tokens and its gradient. Its graph has values of floats, workspaces
// and views.
func attending(t *testing.T, dt tensor.Dtype, n int) G.Nodes {
	t.Helper()
	x := input(G.NewGraph(), "x", ramp(dt, 2, n, 6))
	y, err := fusedAttention(x, x, x, graph.AttentionConfig{Mask: mask.Causal{}})
	require.NoError(t, err)
	y = must(t)(graph.Softmax(must(t)(graph.Add(y, x))))
	loss := G.Must(G.Sum(must(t)(graph.Mul(y, y))))
	grads, err := G.Grad(loss, x)
	require.NoError(t, err)
	return append(grads, loss, y, G.Must(G.Gt(y, x, false)))
}

// Machines of one arena run in turns, in any order and while the arena grows: each gives the bits that it gives alone.
func TestMachinesOfAnArenaTakeTurns(t *testing.T) {
	var arena machine.Arena
	var machines []*machine.Machine
	var nodes []G.Nodes
	var want [][][]uint64
	largest := map[tensor.Dtype]int{}
	run := func(i int) {
		require.NoError(t, machines[i].RunAll())
		for j, n := range nodes[i] {
			require.Equal(t, want[i][j], bits(t, n.Value()), fmt.Sprint(i, n))
			got, err := machines[i].Value(n)
			require.NoError(t, err)
			require.Equal(t, want[i][j], bits(t, got))
		}
	}
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		for _, n := range []int{5, 3, 70, 9, 71} {
			alone := attending(t, dt, n)
			m, err := machine.New(alone...)
			require.NoError(t, err)
			require.NoError(t, m.RunAll())
			var values [][]uint64
			for _, n := range alone {
				values = append(values, bits(t, n.Value()))
			}
			want, nodes = append(want, values), append(nodes, attending(t, dt, n))
			shared, err := arena.New(nodes[len(nodes)-1]...)
			require.NoError(t, err)
			require.Equal(t, m.Memory(), shared.Memory())
			largest[dt] = max(largest[dt], m.Memory().Planned)
			machines = append(machines, shared)
			for i := range machines {
				run(i)
			}
			run(0)
		}
	}
	// The bools of float64 share the memory of those of float32.
	most := largest[tensor.Float32] + largest[tensor.Float64]
	require.LessOrEqual(t, arena.Bytes(), most+most/16)
	require.Greater(t, arena.Bytes(), most-2*71*6-1)

	require.NoError(t, machines[0].Close())
	require.ErrorContains(t, machines[0].RunAll(), "closed")
	run(1)
}

// A result of the last run may be an input of the next run, or of another machine of the arena: it is read before any
// op overwrites it.
func TestAResultMayBeAnInput(t *testing.T) {
	add := func() (x, y *G.Node) { // its first op overwrites the memory of y
		g := G.NewGraph()
		x = input(g, "x", ramp(tensor.Float64, 2, 3))
		p := must(t)(graph.Softmax(must(t)(graph.Softmax(input(g, "p", ramp(tensor.Float64, 2, 3))))))
		return x, must(t)(graph.Add(p, x))
	}
	var arena machine.Arena
	x0, y0 := add()
	x1, y1 := add()
	first, err := arena.New(y0)
	require.NoError(t, err)
	second, err := arena.New(y1)
	require.NoError(t, err)
	require.NoError(t, first.RunAll())
	p := y0.Value().(*tensor.Dense).Clone().(*tensor.Dense).Float64s() // softmax(softmax(p)) + x
	for i, v := range x0.Value().(*tensor.Dense).Float64s() {
		p[i] -= v
	}
	after := func(adds int) (want []float64) {
		for i, v := range ramp(tensor.Float64, 2, 3).Float64s() {
			want = append(want, v+float64(adds)*p[i])
		}
		return want
	}
	for i, run := range []struct {
		machine  *machine.Machine
		x, y, of *G.Node
	}{{first, x0, y0, y0}, {second, x1, y1, y0}, {second, x1, y1, y1}, {first, x0, y0, y1}} {
		require.NoError(t, G.Let(run.x, run.of.Value()))
		require.NoError(t, run.machine.RunAll())
		require.InDeltaSlice(t, after(i+2), run.y.Value().Data(), 1e-12)
	}
}
