package heads_test

import (
	"testing"

	"attention/graph/machine"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// must is for what a test needs and is not about.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// attend builds a call of a new layer over x.
func attend(t testing.TB, c layers.AttentionConfig, x ...int) (*layers.Build, *layers.AttentionCall) {
	t.Helper()
	p := layers.NewParams(tensor.Float64, 1)
	l := must(layers.NewAttention(p.Scope("attn"), c))
	b := layers.NewBuild(p, layers.Eval)
	b.Of(l.Forward(b, input(t, b, "x", golden.Numbers(tensor.Float64, x...))))
	require.NoError(t, b.Err())
	return b, b.Calls("*")[0]
}

// operandsOf returns the operands of a call, and their nodes.
func operandsOf(t testing.TB, call *layers.AttentionCall) (o layers.AttentionOperands, nodes G.Nodes) {
	t.Helper()
	o = must(call.Operands())
	add := func(n *G.Node) *G.Node {
		if n != nil && n.Op() != nil {
			nodes = append(nodes, n)
		}
		return n
	}
	for _, n := range []*G.Node{o.ProjectedQuery, o.ProjectedKey, o.Query, o.Key, o.Value, o.Config.RelativeBias,
		o.Config.LogGates, o.Config.Sinks} {
		add(n)
	}
	must(mask.WithNodes(o.Config.Mask, add))
	return o, nodes
}

// input makes an input of the build that holds v.
func input(t testing.TB, b *layers.Build, name string, v *tensor.Dense) *G.Node {
	t.Helper()
	n := b.InputOf(v.Dtype(), name, v.Shape()...)
	require.NoError(t, b.Err())
	require.NoError(t, G.Let(n, v))
	return n
}

// values runs nodes of one graph.
func values(t testing.TB, nodes ...*G.Node) [][]float64 {
	t.Helper()
	m := must(machine.New(nodes...))
	defer m.Close()
	require.NoError(t, m.RunAll())
	var got [][]float64
	for _, n := range nodes {
		if v := n.Value(); v.Dtype() != tensor.Int { // such as the numbers of blocks
			got = append(got, golden.Floats(t, v))
		}
	}
	return got
}
