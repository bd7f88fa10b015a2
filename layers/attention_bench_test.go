package layers_test

import (
	"fmt"
	"testing"

	"attention/graph/machine"
	"attention/layers"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// BenchmarkMultiHeadAttention times the layer at the sizes of `attention bench`: the
// output, and the output with the gradients of all parameters.
//
//	go test ./layers -run '^$' -bench MultiHeadAttention/B2_T1024
func BenchmarkMultiHeadAttention(b *testing.B) {
	for _, s := range []struct{ batch, tokens, width, heads int }{
		{batch: 32, tokens: 32, width: 64, heads: 4},
		{batch: 1, tokens: 256, width: 768, heads: 12},
		{batch: 2, tokens: 1024, width: 768, heads: 12},
		{batch: 1, tokens: 4096, width: 768, heads: 12},
	} {
		name := fmt.Sprintf("B%d T%d E%d H%d ", s.batch, s.tokens, s.width, s.heads)
		c := chapter.MultiHead(s.width, s.width, s.heads)
		b.Run(name+"eval", func(b *testing.B) { benchmarkLayer(b, c, layers.Eval, s.batch, s.tokens, s.width) })
		b.Run(name+"train", func(b *testing.B) { benchmarkLayer(b, c, layers.Train, s.batch, s.tokens, s.width) })
	}
}

// benchmarkLayer runs the layer on a batch: in Train mode with its gradients.
func benchmarkLayer(b *testing.B, c layers.AttentionConfig, mode layers.Mode, shape ...int) {
	p := layers.NewParams(tensor.Float32, 123)
	l, err := layers.NewAttention(p.Scope(""), c)
	require.NoError(b, err)
	build := layers.NewBuild(p, mode)
	x := build.InputOf(tensor.Float32, "x", shape...)
	require.NoError(b, build.Err())
	require.NoError(b, G.Let(x, numbers(tensor.Float32, shape...)))
	out, err := l.Forward(build, x)
	require.NoError(b, err)
	wanted := G.Nodes{out}
	if mode == layers.Train {
		dout := build.InputOf(tensor.Float32, "dout", shape...)
		require.NoError(b, build.Err())
		require.NoError(b, G.Let(dout, numbers(tensor.Float32, shape...)))
		grads, err := G.Backpropagate(G.Nodes{out}, G.Nodes{dout}, build.Learnables())
		require.NoError(b, err)
		wanted = append(wanted, grads...)
	}
	m, err := machine.New(wanted...)
	require.NoError(b, err)
	defer m.Close()
	require.NoError(b, m.RunAll())
	b.ReportAllocs()
	for b.Loop() {
		if err := m.RunAll(); err != nil {
			b.Fatal(err)
		}
	}
}
