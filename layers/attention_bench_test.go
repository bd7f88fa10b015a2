package layers_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"attention/graph/machine"
	"attention/internal/golden"
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
	m := layerMachine(b, c, mode, false, shape...)
	defer m.Close()
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, m.RunAll())
	}
}

// layerMachine returns a machine, run once, of the layer on a batch: in Train mode with its gradients, for a given
// gradient of the output or for a loss of Gorgonia's ops.
func layerMachine(b *testing.B, c layers.AttentionConfig, mode layers.Mode, loss bool, shape ...int) *machine.Machine {
	p := layers.NewParams(tensor.Float32, 123)
	l, err := layers.NewAttention(p.Scope(""), c)
	require.NoError(b, err)
	build := layers.NewBuild(p, mode)
	x := input(b, build, "x", golden.Numbers(tensor.Float32, shape...))
	out, err := l.Forward(build, x)
	require.NoError(b, err)
	wanted, grads := G.Nodes{out}, G.Nodes(nil)
	switch {
	case loss:
		mean := build.Of(G.Mean(build.Of(G.Square(out))))
		require.NoError(b, build.Err())
		wanted = G.Nodes{mean}
		grads, err = G.Grad(mean, build.Learnables()...)
	case mode == layers.Train:
		dout := input(b, build, "dout", golden.Numbers(tensor.Float32, shape...))
		grads, err = G.Backpropagate(G.Nodes{out}, G.Nodes{dout}, build.Learnables())
	}
	require.NoError(b, err)
	m, err := machine.New(append(wanted, grads...)...)
	require.NoError(b, err)
	require.NoError(b, m.RunAll())
	return m
}

// BenchmarkLossOfGorgonia times the layer with the loss gorgonia.Mean(gorgonia.Square(out)) and the layer without a
// loss in turns, and reports the ratio of their times and of their memory.
func BenchmarkLossOfGorgonia(b *testing.B) {
	for _, s := range []struct{ batch, tokens, width, heads int }{
		{batch: 32, tokens: 32, width: 64, heads: 4},
		{batch: 2, tokens: 1024, width: 768, heads: 12},
	} {
		b.Run(fmt.Sprintf("B%d T%d E%d H%d", s.batch, s.tokens, s.width, s.heads), func(b *testing.B) {
			c := chapter.MultiHead(s.width, s.width, s.heads)
			var machines [2]*machine.Machine
			var times [2][]float64
			for i := range machines {
				machines[i] = layerMachine(b, c, layers.Train, i == 1, s.batch, s.tokens, s.width)
				defer machines[i].Close()
			}
			for b.Loop() {
				for i, m := range machines {
					begin := time.Now()
					require.NoError(b, m.RunAll())
					times[i] = append(times[i], time.Since(begin).Seconds()*1e3)
				}
			}
			for i := range times {
				slices.Sort(times[i])
			}
			without, with := times[0][len(times[0])/2], times[1][len(times[1])/2]
			b.ReportMetric(without, "without-ms")
			b.ReportMetric(with, "with-ms")
			b.ReportMetric(with/without, "times-as-long")
			b.ReportMetric(float64(machines[1].Memory().Planned)/float64(machines[0].Memory().Planned), "times-as-large")
		})
	}
}
