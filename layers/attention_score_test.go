package layers_test

import (
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// T5's bias as a graph with its own table equals the built-in one: outputs, weights and the gradient of the table.
func TestALearnedBiasAsAGraph(t *testing.T) {
	const T = 7
	plain := layers.AttentionConfig{EmbedDim: 6, NumHeads: 3, NumKVHeads: 1, Mask: mask.Causal{}}
	builtIn := having(plain, func(c *layers.AttentionConfig) {
		c.RelativeBias = &layers.RelativeBiasConfig{Buckets: 6, MaxDistance: 5, Unidirectional: true}
	})
	p, l := newAttention(t, tensor.Float64, builtIn)
	table := must(p.Scope("mine").Param("table", layers.Constant(0), 6, 3))
	const own = "relative_attention_bias.weight"
	numbers, _ := p.Get(own)
	require.NoError(t, p.Set("mine.table", numbers))
	written := having(plain, func(c *layers.AttentionConfig) {
		c.ScoreGraph = &layers.ScoreGraph{Name: "t5", Of: func(b *layers.Build, scores *G.Node) (*G.Node, error) {
			bias, err := graph.T5RelativeBias(b.Node(table), graph.T5Config{T: T, S: T, MaxDistance: 5, Unidirectional: true})
			return graph.Add(scores, b.Of(graph.ExpandRelativeBias(b.Of(bias, err), T, T)))
		}}
	})
	same := must(layers.NewAttention(p.Scope("other"), written))
	state := must(l.State(layers.Book))
	delete(state, own)
	require.NoError(t, same.SetState(layers.Book, state))
	run := func(l *layers.Attention, table string) [][]float64 {
		b := layers.NewBuild(p, layers.Train)
		in := layers.AttentionInput{Query: input(t, b, "x", golden.Numbers(tensor.Float64, 2, T, 6))}
		out, weights := b.Of(l.Attend(b, in)), b.Of(l.Weights(b, in))
		require.NoError(t, b.Err())
		var wrt G.Nodes
		for _, n := range b.Learnables() {
			if n.Name() == table {
				wrt = append(wrt, n)
			}
		}
		require.Len(t, wrt, 1)
		dout := input(t, b, "dout", golden.Numbers(tensor.Float64, 2, T, 6))
		grads := must(G.Backpropagate(G.Nodes{out}, G.Nodes{dout}, append(wrt, in.Query)))
		return values(t, append(G.Nodes{out, weights}, grads...)...)
	}
	want, got := run(l, own), run(same, "mine.table")
	for i := range want {
		require.InDeltaSlice(t, want[i], got[i], 1e-12)
	}
	b := layers.NewBuild(p, layers.Eval)
	b.Of(same.Forward(b, input(t, b, "x", golden.Numbers(tensor.Float64, T, 6))))
	_, err := b.Calls("*")[0].Stats()
	require.ErrorContains(t, err, `FusedAttention: score: got ScoreGraph "t5", want a ScoreFunc, or Attention for it`)
}
