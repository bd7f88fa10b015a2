package machine_test

import (
	"fmt"
	"testing"

	"attention/graph"
	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A machine is printed as one line by every verb.
func TestPrint(t *testing.T) {
	g := G.NewGraph()
	x := G.NewMatrix(g, tensor.Float64, G.WithShape(300, 500), G.WithName("x"), G.WithInit(G.Zeroes()))
	y := G.NewMatrix(g, tensor.Float64, G.WithShape(300, 500), G.WithName("y"), G.WithInit(G.Zeroes()))
	m, err := machine.New(G.Must(graph.Add(x, y)))
	require.NoError(t, err)
	const want = "machine of 3 nodes, 2 inputs, 1.2 MB"
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		require.Equal(t, want, fmt.Sprintf(verb, m), verb)
	}
	require.NoError(t, m.RunAll())
	require.Equal(t, want, m.String(), "after a run")
	require.NoError(t, m.Close())
	require.Equal(t, "closed machine", m.String())
	require.Equal(t, "<nil>", fmt.Sprint((*machine.Machine)(nil)))
}
