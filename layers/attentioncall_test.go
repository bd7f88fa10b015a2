package layers_test

import (
	"testing"

	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// ops returns how many ops with a name a graph has.
func ops(b *layers.Build, name string) int {
	n := 0
	for _, node := range b.Graph().AllNodes() {
		if op := node.Op(); op != nil && len(op.String()) >= len(name) && op.String()[:len(name)] == name {
			n++
		}
	}
	return n
}

// An observed attention is fused like any other, and its statistics come with its output. Statistics of an attention
// that is not observed are computed when they are requested, like weights.
func TestObservedAttentionsHaveStats(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	var both [2]*layers.Attention
	for i, path := range []string{"h.0.attn", "h.1.attn"} {
		both[i] = must(layers.NewAttention(p.Scope(path), plainAttention))
	}
	b := layers.NewBuild(p, layers.Eval)
	b.Observe("*.1.attn")
	require.False(t, b.Observes("h.0.attn"))
	require.True(t, b.Observes("h.1.attn"))
	x := input(t, b, "x", golden.Numbers(tensor.Float64, 2, 7, 5))
	for _, l := range both {
		x = b.Of(l.Forward(b, x))
	}
	require.NoError(t, b.Err())
	require.Equal(t, 1, ops(b, "Entropy"))
	nodes := len(b.Graph().AllNodes())

	calls := b.Calls("h.*.attn")
	require.Len(t, calls, 2)
	require.Equal(t, []string{"h.0.attn", "h.1.attn"}, []string{calls[0].Path, calls[1].Path})
	require.Same(t, calls[1].Input.Query, calls[1].Input.Key)
	stats := must(calls[1].Stats())
	require.Equal(t, tensor.Shape{2, 3, 7}, stats.Entropy.Shape())
	require.Len(t, b.Graph().AllNodes(), nodes, "the statistics were there")

	w := b.Of(calls[1].Weights())
	require.Same(t, w, b.Of(both[1].Weights(b, layers.AttentionInput{Query: calls[1].Input.Query})))
	require.Equal(t, tensor.Shape{2, 3, 7, 7}, w.Shape())
	require.Equal(t, 1, ops(b, "Softmax"))

	stats = must(calls[0].Stats())
	require.Same(t, stats, must(calls[0].Stats()))
	require.Equal(t, 2, ops(b, "Entropy"), "computed now")
	require.Empty(t, b.Calls("attn"))
	require.NoError(t, b.Err())
}

// One layer, called for two sequences and twice for one of them: each call is separate, with its own dropouts.
func TestEachCallIsItsOwn(t *testing.T) {
	p, l := newAttention(t, tensor.Float64, having(plainAttention, func(c *layers.AttentionConfig) {
		c.Dropout, c.ContextDropout, c.ContextOnly = 0.5, 0.5, true
	}))
	b := layers.NewBuild(p, layers.Train)
	x, y := input(t, b, "x", golden.Numbers(tensor.Float64, 7, 5)), input(t, b, "y", golden.Numbers(tensor.Float64, 3, 5))
	hidden := layers.AttentionInput{Query: x, Mask: mask.Causal{}}
	outs := G.Nodes{b.Of(l.Forward(b, x)), b.Of(l.Forward(b, y)), b.Of(l.Forward(b, x)), b.Of(l.Attend(b, hidden))}
	calls := b.Calls("")
	require.Len(t, calls, 4)
	require.Equal(t, 9, b.Drop(0.5).Site, "two dropouts a call")
	require.Equal(t, mask.Causal{}, calls[3].Input.Mask)
	require.NoError(t, G.Let(b.DropoutKey(), G.NewI64(3)))
	var weights G.Nodes
	for _, c := range calls {
		weights = append(weights, b.Of(c.Weights()))
	}
	require.NoError(t, b.Err())
	require.Equal(t, 10, b.Drop(0.5).Site, "weights have the dropouts of their call")
	got := values(t, append(outs, weights...)...)
	require.NotEqual(t, got[0], got[2])
	require.NotEqual(t, got[4], got[6])
	require.NotEqual(t, got[4], got[7])
}

func TestWrongPatternsAreRefused(t *testing.T) {
	b := layers.NewBuild(layers.NewParams(tensor.Float32, 1), layers.Eval)
	b.Observe("h.*", "h.[")
	require.EqualError(t, b.Err(), `layers: build: observe: got "h.[", want a pattern of path.Match`)
}
