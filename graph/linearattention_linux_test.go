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
	"attention/internal/simd"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// BenchmarkLinearAttention times a forward with all gradients, B 1, H 12, D and Dv 64, and full attention for
// comparison.
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
		out, err = fusedAttention(q, k, v, graph.AttentionConfig{Heads: H, Mask: mask.Causal{}})
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
	if products := linearProducts(form, D); products > 0 {
		peak := simd.PeakFMA[float32](50 * time.Millisecond)
		b.ReportMetric(2*products*float64(T*H)/processor/peak, "of-peak")
	}
}

// linearProducts returns the multiply-adds per token and head, with gradients and D = Dv, of the forms in chunks of 64
// tokens. Products that the backward repeats do not count. For other forms it returns 0.
func linearProducts(form string, D float64) float64 {
	const n = 64
	rows, solutions := 1.0, 0.0 // products with keys and states, per token
	switch form {
	case "linear":
	case "delta", "gated delta":
		rows, solutions = 2, n*D // one row for the query and one for the key; both triangular systems
	default:
		return 0
	}
	forward := rows*n*D + rows*D*D + n*D + D*D
	backward := n*D + D*D + rows*n*D + rows*D*D + D*D + 2*rows*n*D + rows*D*D
	return forward + backward + solutions
}

// processorTime returns the processor time of the process in seconds.
func processorTime(b *testing.B) float64 {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
