package graph_test

import (
	"math"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

func swiGLU(in G.Nodes) (*G.Node, error) { return graph.SwiGLU(in[0], in[1]) }

// SwiGLU is SiLU⊙up, and so are its gradients.
func TestSwiGLUEqualsItsParts(t *testing.T) {
	in := shapes(s{2, 3, 5}, s{2, 3, 5})(random(1))
	dout := normal(random(2), 2, 3, 5)
	for _, p := range tolerances {
		var got [2]result
		for i, op := range []func(in G.Nodes) (*G.Node, error){swiGLU, func(in G.Nodes) (*G.Node, error) {
			y, err := graph.SiLU(in[0])
			require.NoError(t, err)
			return graph.Mul(y, in[1])
		}} {
			e := express(t, op, in, p.dt)
			e.differentiate(t, in, dout, p.dt)
			got[i] = e.onOurs(t)
		}
		nearResult(t, "SwiGLU", got[1], got[0], p.tol)
	}
}

func swiGLUCases() []opCase {
	want := each(func(gate, up float64) float64 { return gate / (1 + math.Exp(-gate)) * up })
	return []opCase{
		{name: "swiglu", op: swiGLU, want: want, in: shapes(s{2, 3, 5}, s{2, 3, 5})},
		{name: "swiglu_scalar", op: swiGLU, want: want, in: shapes(nil, nil)},
	}
}
