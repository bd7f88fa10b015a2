package layers_test

import (
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// Attention over the parts, with their settings, is the layer's: same output and same weights.
func TestPartsMakeTheWeights(t *testing.T) {
	for name, c := range map[string]layers.AttentionConfig{
		"plain":  plainAttention,
		"packed": {EmbedDim: 6, NumHeads: 3, Layout: layers.GPT2, Mask: mask.Causal{}},
		"grouped, turned, capped": {EmbedDim: 5, NumHeads: 4, NumKVHeads: 2, HeadDim: 4, RoPE: &graph.RoPEConfig{},
			QKNorm: layers.RMSNorm, Softcap: 0.3, ALiBi: true, AddZeroAttn: false, Sinks: true},
		"extra keys":         {EmbedDim: 5, NumHeads: 3, HeadDim: 4, AddBiasKV: true, AddZeroAttn: true, Mask: mask.Causal{}},
		"heads of their own": {EmbedDim: 5, NumHeads: 3, HeadDim: 4, Layout: layers.PerHead, ContextOnly: true, Mask: mask.Causal{}},
	} {
		t.Run(name, func(t *testing.T) {
			c.ContextOnly = true
			p, l := newAttention(t, tensor.Float64, c)
			b := layers.NewBuild(p, layers.Eval)
			in := layers.AttentionInput{Query: input(t, b, "x", numbers(tensor.Float64, 2, 7, c.EmbedDim))}
			out, weights := b.Of(l.Attend(b, in)), b.Of(l.Weights(b, in))
			parts, err := b.Calls("*")[0].Parts()
			require.NoError(t, err)
			same, err := l.Parts(b, in)
			require.NoError(t, err)
			again, of := b.Of2(graph.Attention(parts.ScoreQuery, parts.ScoreKey, parts.Value, parts.Settings))
			require.NoError(t, b.Err())
			got := values(t, out, weights, again, of, parts.ScoreKey, same.ScoreKey)
			require.InDeltaSlice(t, got[0], got[2], 1e-14)
			require.Equal(t, got[1], got[3])
			require.Equal(t, got[4], got[5])
		})
	}
}

func TestPartsRefuse(t *testing.T) {
	_, err := (*layers.AttentionCall)(nil).Parts()
	require.EqualError(t, err, "layers: attention call: got nil or its zero value, want one of Build.Calls")
	p, l := newAttention(t, tensor.Float64, but(plainAttention, func(c *layers.AttentionConfig) { c.Mask = mask.Causal{} }))
	b := layers.NewBuild(p, layers.Eval)
	cache := must(l.NewCache(graph.KVCacheConfig{Capacity: 9}))
	start := b.InputOf(tensor.Int, "start")
	b.Of(l.Attend(b, layers.AttentionInput{Query: b.Input("x", 3, 5), Cache: cache, Start: start}))
	require.NoError(t, b.Err())
	_, err = b.Calls("*")[0].Parts()
	require.ErrorContains(t, err, "parts: got a cache, want none")
}

// The additive layer's parts are its scores'.
func TestAdditiveParts(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	l := must(layers.NewAdditiveAttention(p.Scope(""), layers.AdditiveAttentionConfig{QueryDim: 5, KeyDim: 3, AttnDim: 7}))
	b := layers.NewBuild(p, layers.Eval)
	q, k := input(t, b, "q", numbers(tensor.Float64, 2, 5)), input(t, b, "k", numbers(tensor.Float64, 4, 3))
	parts := must(l.Parts(b, q, k))
	_, weights := b.Of2(graph.AdditiveAttention(parts.ScoreQuery, parts.ScoreKey, parts.Additive, parts.Value))
	got := values(t, weights, b.Of(l.Weights(b, q, k)))
	require.Equal(t, got[1], got[0])
	_, err := l.Parts(b, k, k)
	require.ErrorContains(t, err, "query: shape (4, 3), want")
}
