package layers_test

import (
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"attention/graph"
	"attention/layers"
	"attention/layers/gradcases"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// settings is a hash that keeps what is written: all settings of an op.
type settings struct {
	hash.Hash
	text strings.Builder
}

func (s *settings) Write(p []byte) (int, error) { return s.text.Write(p) }

// precisions returns how many products of a graph are in each precision, by the op's name.
func precisions(g *G.ExprGraph) map[string][2]int {
	counts := map[string][2]int{}
	for _, n := range g.AllNodes() {
		if n.Op() == nil {
			continue
		}
		s := settings{Hash: fnv.New32a()}
		n.Op().WriteHash(&s)
		for i, setting := range []string{"Precision:0", "Precision:1"} {
			if strings.Contains(s.text.String(), setting) {
				count := counts[n.Op().String()]
				count[i]++
				counts[n.Op().String()] = count
			}
		}
	}
	return counts
}

// TestSetPrecision: every product of a layer, and of its gradients, is in the build's precision, except those that only
// choose blocks.
func TestSetPrecision(t *testing.T) {
	t.Setenv("ATTENTION_BF16", "emulated")
	for i, precision := range []graph.Precision{graph.FullPrecision, graph.BFloat16} {
		all := map[string]int{}
		for _, c := range gradcases.Cases() {
			c.Mode, c.Precision = layers.Train, precision
			out, wrt, err := c.Build(tensor.Float32, rand.New(rand.NewPCG(1, 2)))
			require.NoError(t, err)
			must(G.Backpropagate(G.Nodes{out}, G.Nodes{out}, wrt))
			for op, count := range precisions(out.Graph()) {
				require.True(t, count[1-i] == 0 || op == "ChooseBlocks", "%s: %s in %v", c.Name(), op, precision)
				all[op] += count[i]
			}
		}
		for _, op := range strings.Fields("Linear MatMul RowOuter Scores FusedAttention FusedAttentionBackward GRU GRUBackward " +
			"LinearCrossEntropy LinearCrossEntropyGradients") {
			require.Positive(t, all[op], "%s in %v", op, precision)
		}
	}
}

// The loss in bfloat16 is near that in float32, and another one; the weights stay float32.
func TestSetPrecisionOfALoss(t *testing.T) {
	t.Setenv("ATTENTION_BF16", "emulated")
	m, p := newGPT(t, tensor.Float32, tinyGPT())
	var losses [2]float64
	for i, precision := range []graph.Precision{graph.FullPrecision, graph.BFloat16} {
		b := layers.NewBuild(p, layers.Train)
		b.SetPrecision(precision)
		loss := b.Of(m.Loss(b, input(t, b, "ids", sequences(2, 5)), input(t, b, "targets", sequences(2, 5))))
		run(t, loss)
		losses[i] = number(loss.Value())
	}
	require.InDelta(t, losses[0], losses[1], 0.01)
	require.NotEqual(t, losses[0], losses[1])
}

func TestSetPrecisionRefuses(t *testing.T) {
	t.Setenv("ATTENTION_BF16", "emulated")
	for _, c := range []struct {
		dt        tensor.Dtype
		precision graph.Precision
		want      string
	}{
		{tensor.Float64, graph.BFloat16, "graph: precision: got bf16 of float64, want it of float32"},
		{tensor.Float32, 9, "graph: precision: got Precision(9), want FullPrecision or BFloat16"},
	} {
		b := layers.NewBuild(layers.NewParams(c.dt, 1), layers.Train)
		b.SetPrecision(c.precision)
		require.EqualError(t, b.Err(), c.want)
		require.Equal(t, graph.FullPrecision, b.Precision())
	}
	t.Setenv("ATTENTION_BF16", "fast")
	b := layers.NewBuild(layers.NewParams(tensor.Float32, 1), layers.Eval)
	b.SetPrecision(graph.BFloat16)
	require.ErrorContains(t, b.Err(), `ATTENTION_BF16: got "fast", want emulated or nothing`)
}
