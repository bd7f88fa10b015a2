package machine_test

import (
	"testing"
	"time"

	"attention/graph"
	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A profile has each kind of ops that ran while it was recorded, and the work that Timed named.
func TestProfile(t *testing.T) {
	g := G.NewGraph()
	x := G.NewMatrix(g, tensor.Float32, G.WithShape(300, 400), G.WithName("x"), G.WithInit(G.GlorotN(1)))
	across, err := graph.Transpose(x)
	require.NoError(t, err)
	once, err := graph.Softmax(across)
	require.NoError(t, err)
	twice, err := graph.Softmax(once)
	require.NoError(t, err)
	m, err := machine.New(twice)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())

	stop := machine.StartProfile()
	begin := time.Now()
	require.NoError(t, m.RunAll())
	require.NoError(t, m.RunAll())
	end := machine.Timed("rest")
	time.Sleep(20 * time.Millisecond)
	end()
	took := time.Since(begin)
	all := stop()
	require.NoError(t, m.RunAll())
	require.Equal(t, all, stop())

	calls, sum := map[string]int{}, time.Duration(0)
	for i, op := range all {
		require.Positive(t, op.Time)
		require.GreaterOrEqual(t, op.Idle, time.Duration(0))
		require.True(t, i == 0 || op.Time <= all[i-1].Time)
		calls[op.Name] = op.Calls
		sum += op.Time
		if op.Name == "rest" {
			require.GreaterOrEqual(t, op.Time, 20*time.Millisecond)
		}
	}
	require.Equal(t, map[string]int{"Softmax": 4, "Transpose": 2, "rest": 1}, calls)
	require.LessOrEqual(t, sum, took)
}

// Without a profile nothing is timed. If a second profile starts, only the second one records.
func TestProfileOfAnother(t *testing.T) {
	machine.Timed("nothing")()
	first := machine.StartProfile()
	second := machine.StartProfile()
	machine.Timed("something")()
	require.Empty(t, first())
	require.Len(t, second(), 1)
}
