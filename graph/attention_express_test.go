package graph_test

import (
	"slices"
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
		c.Renormalize = false // hiding before the softmax gives the same
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

// batch is the attention of one batch, whose axes then are 1.
func (a drawnAttention) batch(b int) drawnAttention {
	one := a
	one.q, one.k, one.v = a.part("q", a.q, b), a.part("k", a.k, b), a.part("v", a.v, b)
	if a.bias.name != "" {
		one.bias.array = a.part("bias", a.bias.array, b)
	}
	if a.bias.hide != nil {
		one.bias.hide = a.part("bias", array{a.bias.shape, a.bias.hide}, b).v
	}
	one.bias = one.bias.added()
	if a.mask != nil {
		m := a.maskOf(*a.mask, b)
		one.mask = &m
	}
	one.z.batch = slices.Repeat([]int{1}, len(a.z.batch))
	return one
}

// part is what belongs to a batch of an array that has a name, or all of one that all
// batches share.
func (a drawnAttention) part(name string, x array, b int) array {
	scores, heads := len(a.z.shape(0))-len(a.z.batch), len(a.q.shape)-len(a.z.batch)
	own, ok := map[string]int{"bias": scores, "keep": scores, "lengths": 0, "segments": 1, "relative bias": 2, "sinks": 1}[name]
	if !ok {
		own = heads
	}
	lead, rest := x.shape[:max(len(x.shape)-own, 0)], x.shape[max(len(x.shape)-own, 0):]
	if n := tensor.Shape(lead).TotalSize(); n == 1 || len(lead) == 0 {
		return x
	}
	n := tensor.Shape(rest).TotalSize()
	return array{append(slices.Repeat([]int{1}, len(lead)), rest...), x.v[b*n:][:n]}
}
