package graph_test

import (
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// names are those of the arguments that have a gradient.
func (a drawnAttention) names() []string {
	names := []string{"q", "k", "v"}
	for _, x := range []addend{a.bias, a.relative, a.sinks} {
		if x.name != "" && !x.detached {
			names = append(names, x.name)
		}
	}
	return names
}

// express builds the attention. Its inputs are those that have a gradient.
func (a drawnAttention) express(t testing.TB, fused bool) (e expression, weights *G.Node) {
	t.Helper()
	e.g = G.NewGraph()
	q, k, v := node(e.g, "q", a.q, a.dt), node(e.g, "k", a.k, a.dt), node(e.g, "v", a.v, a.dt)
	e.in = G.Nodes{q, k, v}
	c := a.c
	c.Bias, c.RelativeBias, c.Sinks = a.bias.node(t, &e, a.dt), a.relative.node(t, &e, a.dt), a.sinks.node(t, &e, a.dt)
	if c.Dropout.P > 0 {
		c.Dropout.Key = node(e.g, "key", array{nil, []float64{a.key}}, tensor.Int64)
	}
	if a.mask != nil {
		c.Mask = a.mask.build(e.g, new(int))
	}
	var err error
	if fused {
		e.out, err = graph.FusedAttention(q, k, v, c)
	} else {
		e.out, weights, err = graph.Attention(q, k, v, c)
	}
	require.NoError(t, err)
	return e, weights
}

// node makes the addend's node, nil for none.
func (a addend) node(t testing.TB, e *expression, dt tensor.Dtype) *G.Node {
	t.Helper()
	if a.name == "" {
		return nil
	}
	n := node(e.g, a.name, a.array, dt)
	if !a.detached {
		e.in = append(e.in, n)
	}
	var err error
	if a.hide != nil {
		n, err = graph.Add(n, node(e.g, a.name+" −∞", array{a.shape, a.hide}, dt))
		require.NoError(t, err)
	}
	if a.detached {
		n, err = graph.Detach(n)
		require.NoError(t, err)
	}
	return n
}
