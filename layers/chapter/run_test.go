package chapter_test

import (
	"testing"

	"attention/graph/machine"
	"attention/internal/golden"
	"attention/layers"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

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
		got = append(got, golden.Floats(t, n.Value()))
	}
	return got
}

// apply runs a layer on x in an Eval graph, observed.
func apply(t testing.TB, p *layers.Params, l chapter.Layer, x *tensor.Dense) (out, weights []float64) {
	t.Helper()
	b := layers.NewBuild(p, layers.Eval)
	b.Observe("*")
	in := input(t, b, "x", x)
	got := values(t, must(l.Forward(b, in)), must(l.Weights(b, in)))
	return got[0], got[1]
}

func names(p *layers.Params) []string {
	var list []string
	for name := range p.All() {
		list = append(list, name)
	}
	return list
}

// must checks the error of a call that a test needs but does not test.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}
