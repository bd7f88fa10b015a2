package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
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

// BenchmarkSparseAttention times a forward with all gradients of sparse attention and of full attention, in turns: B 1,
// H 12, D and Dv 64, blocks of 256 keys of which a query sees 4.
func BenchmarkSparseAttention(b *testing.B) {
	for _, T := range []int{4096, 16384} {
		b.Run(fmt.Sprintf("T=%d", T), func(b *testing.B) { benchmarkSparse(b, T) })
	}
}

func benchmarkSparse(b *testing.B, T int) {
	const H, D, size, blocks = 12, 64, 256, 4
	full := graph.AttentionConfig{Heads: H, Mask: mask.Causal{}}
	sparse := full
	sparse.Sparse = &graph.BlockSparse{BlockSize: size, Blocks: blocks}
	var machines []*machine.Machine
	for _, c := range []graph.AttentionConfig{full, sparse} {
		machines = append(machines, attentionMachine(b, T, H, D, c))
	}
	wall, processor := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(1), math.Inf(1)} // the least
	for b.Loop() {
		for i, m := range machines {
			begin, used := time.Now(), processorTime(b)
			require.NoError(b, m.RunAll())
			wall[i] = min(wall[i], time.Since(begin).Seconds())
			processor[i] = min(processor[i], processorTime(b)-used)
		}
	}
	pairs := 0.0
	for t := range T {
		pairs += float64(min(blocks-1, t/size)*size + t%size + 1)
	}
	operations := 2 * pairs * H * D * 7 // two products forward, five backward
	b.ReportMetric(wall[0]*1e3, "full-ms")
	b.ReportMetric(wall[1]*1e3, "sparse-ms")
	b.ReportMetric(wall[1]/wall[0], "of-full")
	b.ReportMetric(processor[1]/processor[0], "of-full-processor")
	b.ReportMetric(operations/processor[1]/simd.PeakFMA[float32](50*time.Millisecond), "of-peak")
}

// attentionMachine returns a machine for an attention of one sequence and its gradients that has run once.
func attentionMachine(b *testing.B, T, H, D int, c graph.AttentionConfig) *machine.Machine {
	r := rand.New(rand.NewPCG(1, 2))
	g := G.NewGraph()
	var in G.Nodes
	for _, name := range []string{"q", "k", "v", "dout"} {
		in = append(in, node(g, name, normal(r, 1, T, H*D), tensor.Float32))
	}
	out, err := fusedAttention(in[0], in[1], in[2], c)
	require.NoError(b, err)
	grads, err := G.Backpropagate(G.Nodes{out}, G.Nodes{in[3]}, in[:3])
	require.NoError(b, err)
	m, err := machine.New(append(G.Nodes{out}, grads...)...)
	require.NoError(b, err)
	b.Cleanup(func() { _ = m.Close() })
	require.NoError(b, m.RunAll())
	return m
}
