package graph_test

import (
	"fmt"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Gorgonia merges nodes whose ops print alike: every setting must show.
func TestDifferentSettingsAreDifferentNodes(t *testing.T) {
	g := G.NewGraph()
	x, w := node(g, "x", normal(random(1), 6, 6), tensor.Float64), node(g, "w", normal(random(2), 6), tensor.Float64)
	ops := map[string]func() (*G.Node, error){}
	for _, name := range []string{"LayerNorm", "RMSNorm", "L2Norm"} {
		for _, eps := range []float64{1e-5, 1e-5 + 1e-12} {
			ops[fmt.Sprint(name, eps)] = func() (*G.Node, error) { return normBy(name, eps)(x, w) }
		}
	}
	ops["LayerNorm, bias"] = func() (*G.Node, error) { return graph.LayerNorm(x, w, w, 1e-5) }
	for name, op := range map[string]func(x *G.Node) (*G.Node, error){
		"GELU": graph.GELU, "GELUTanh": graph.GELUTanh, "SiLU": graph.SiLU, "Sigmoid": graph.Sigmoid,
		"Softcap 30": softcapBy(30), "Softcap 50": softcapBy(50), "Transpose": graph.Transpose,
		"Rows 0, 1": rowsBy(0, 1), "Rows 1, 1": rowsBy(1, 1), "Rows 0, 2": rowsBy(0, 2), "Rows 0, 6": rowsBy(0, 6),
		"Split 1": func(x *G.Node) (*G.Node, error) { return firstOf(graph.Split(x, 1, 5)) },
		"Split 2": func(x *G.Node) (*G.Node, error) { return firstOf(graph.Split(x, 2, 4)) },
		"Split 6": func(x *G.Node) (*G.Node, error) { return firstOf(graph.Split(x, 6)) },
	} {
		ops[name] = func() (*G.Node, error) { return op(x) }
	}
	seen := map[*G.Node]string{}
	for name, op := range ops {
		n, err := op()
		require.NoError(t, err, name)
		require.Empty(t, seen[n], "%s is the same node", name)
		seen[n] = name
		again, err := op()
		require.NoError(t, err, name)
		require.Same(t, n, again, name)
	}
}

func firstOf(parts G.Nodes, err error) (*G.Node, error) {
	if err != nil {
		return nil, err
	}
	return parts[0], nil
}
