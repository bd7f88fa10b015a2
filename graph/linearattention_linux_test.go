package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// BenchmarkLinearAttention is a forward with all gradients, B 1, H 12, D and Dv 64, and full attention for comparison.
func BenchmarkLinearAttention(b *testing.B) {
	for _, T := range []int{4096, 16384} {
		for _, form := range []string{"linear", "gla", "delta", "gated delta", "full attention"} {
			b.Run(fmt.Sprintf("T=%d/%s", T, form), func(b *testing.B) { benchmarkLinear(b, T, form) })
		}
	}
}

func benchmarkLinear(b *testing.B, T int, form string) {
	const H, D = 12, 64
	r := rand.New(rand.NewPCG(1, 2))
	g := G.NewGraph()
	var wrt G.Nodes
	in := func(name string, width int, lo, hi float64) *G.Node {
		values := mapped(zeros(1, T, width), func(float64) float64 { return lo + (hi-lo)*r.Float64() })
		wrt = append(wrt, node(g, name, values, tensor.Float32))
		return wrt[len(wrt)-1]
	}
	key := math.Sqrt(3.0 / D)
	q, k, v := in("q", H*D, -1, 1), in("k", H*D, -key, key), in("v", H*D, -1, 1)
	c := graph.LinearAttentionConfig{Heads: H}
	var out *G.Node
	var err error
	switch form {
	case "gla":
		c.Decay = in("decay", H*D, -0.1, 0)
	case "gated delta":
		c.Decay = in("decay", H, -0.1, 0)
		fallthrough
	case "delta":
		c.Beta = in("beta", H, 0, 1)
	}
	if form == "full attention" {
		out, err = graph.FusedAttention(q, k, v, graph.AttentionConfig{Heads: H, Mask: mask.Causal{}})
	} else {
		out, _, err = graph.LinearAttention(q, k, v, c)
	}
	require.NoError(b, err)
	dout := node(g, "dout", normal(r, out.Shape()...), tensor.Float32)
	grads, err := G.Backpropagate(G.Nodes{out}, G.Nodes{dout}, wrt)
	require.NoError(b, err)
	m, err := machine.New(append(G.Nodes{out}, grads...)...)
	require.NoError(b, err)
	defer m.Close()
	require.NoError(b, m.RunAll())
	wall, processor := math.Inf(1), math.Inf(1) // the least
	for b.Loop() {
		begin, used := time.Now(), processorTime(b)
		require.NoError(b, m.RunAll())
		wall, processor = min(wall, time.Since(begin).Seconds()), min(processor, processorTime(b)-used)
	}
	b.ReportMetric(wall*1e3, "least-ms")
	b.ReportMetric(processor*1e3, "processor-ms")
}

// processorTime returns the seconds that the process has had a processor.
func processorTime(b *testing.B) float64 {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
