package machine_test

import (
	"context"
	"testing"

	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// threeNodes is a graph of x, an intermediate node that another reads, and the last node.
func threeNodes(t *testing.T) (x, between, last *G.Node) {
	g := G.NewGraph()
	x = input(g, "x", ramp(tensor.Float64, 2, 3))
	between = G.Must(G.Tanh(x))
	return x, between, G.Must(G.Exp(between))
}

func TestValueOfANodeThatIsNotKept(t *testing.T) {
	x, between, last := threeNodes(t)
	m, err := machine.ForGraph(x.Graph())
	require.NoError(t, err)
	_, err = m.Value(last)
	require.ErrorContains(t, err, "exp(%1) :: Matrix float64 has no value: no run, or the last one failed")
	require.NoError(t, m.RunAll())
	_, err = m.Value(between)
	require.EqualError(t, err, "machine: the value of tanh(%0) :: Matrix float64 is not kept; "+
		"keep it with gorgonia.Read, GraphConfig.KeepAll or machine.New")
	require.Nil(t, between.Value())
	for _, n := range (G.Nodes{x, last}) {
		v, err := m.Value(n)
		require.NoError(t, err)
		require.True(t, v == n.Value())
	}
}

func TestValueRefuses(t *testing.T) {
	x, _, last := threeNodes(t)
	y := G.NewVector(x.Graph(), tensor.Float64, G.WithShape(2), G.WithName("y"))
	m, err := machine.New(last)
	require.NoError(t, err)
	_, err = m.Value(nil)
	require.EqualError(t, err, "machine: node: got nil or one of no graph, want one of the machine's")
	_, err = m.Value(y)
	require.EqualError(t, err, `machine: input "y" has no value; bind one with gorgonia.Let`)
	require.NoError(t, m.RunAll())
	v, err := m.Value(last)
	require.NoError(t, err)
	require.True(t, v == last.Value())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.Error(t, m.Run(ctx))
	_, err = m.Value(last)
	require.ErrorContains(t, err, "the last one failed")
	require.NoError(t, m.Close())
	_, err = m.Value(last)
	require.EqualError(t, err, "machine: the machine is closed")
}

// With KeepAll each node has its own value of the run, with the engine of the tape machine's values.
func TestKeepAllKeepsEveryValue(t *testing.T) {
	values := func(machineOf func(g *G.ExprGraph) G.VM) (all [][]float64, engines []tensor.Engine) {
		x, _, last := threeNodes(t)
		_, err := G.Grad(G.Must(G.Sum(last)), x)
		require.NoError(t, err)
		m := machineOf(x.Graph())
		require.NoError(t, m.RunAll())
		for _, n := range x.Graph().AllNodes() {
			require.NotNil(t, n.Value(), "%v", n)
			all = append(all, numbers(n.Value()))
			if d, ok := n.Value().(*tensor.Dense); ok && n.Op() != nil {
				engines = append(engines, d.Engine())
			}
		}
		return all, engines
	}
	want, wantEngines := values(func(g *G.ExprGraph) G.VM { return G.NewTapeMachine(g, G.TraceExec()) })
	got, engines := values(func(g *G.ExprGraph) G.VM {
		m, err := machine.GraphConfig{KeepAll: true}.ForGraph(g)
		require.NoError(t, err)
		return m
	})
	require.Len(t, got, len(want))
	for i := range want {
		require.InDeltaSlice(t, want[i], got[i], 1e-12)
	}
	require.Equal(t, wantEngines, engines)
}

// gorgonia.Read keeps a value, also in later runs.
func TestReadKeepsAValue(t *testing.T) {
	x, between, _ := threeNodes(t)
	var read G.Value
	G.Read(between, &read)
	m, err := machine.ForGraph(x.Graph())
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	v, err := m.Value(between)
	require.NoError(t, err)
	require.Equal(t, numbers(read), numbers(v))
}
