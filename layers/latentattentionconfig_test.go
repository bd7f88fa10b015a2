package layers_test

import (
	"testing"

	"attention/graph"
	"attention/layers"

	"github.com/stretchr/testify/require"
)

func TestLatentAttentionConfigs(t *testing.T) {
	full := latentCases()["low_rank"]
	requireNoZero(t, full)
	requireRoundTrip(t, full)
	type config = layers.LatentAttentionConfig
	for _, row := range []struct {
		change func(c *config)
		want   string
	}{
		{func(c *config) { c.Attention.EmbedDim = 0 }, "Attention.EmbedDim: got 0, want at least 1"},
		{func(c *config) { c.KVLoraRank = -1 }, "KVLoraRank: got -1, want at least 0"},
		{func(c *config) { c.VHeadDim = 1 << 40 }, "VHeadDim: got 1099511627776, want at most 268435455"},
		{func(c *config) { c.KVLoraRank = 1 << 27 },
			"kv_b_proj.weight: shape (33, 134217728), want at most 2147483647 elements"},
		{func(c *config) { c.QLoraRank = 1 << 27 },
			"q_b_proj.weight: shape (27, 134217728), want at most 2147483647 elements"},
		{func(c *config) { c.VHeadDim = 1 << 27 },
			"kv_b_proj.weight: shape (402653199, 7), want at most 2147483647 elements"},
		{func(c *config) { c.Attention.NumHeads = 1 << 50 },
			"Attention.NumHeads: got 1125899906842624, want at most 65536"},
		{func(c *config) { c.QKRopeHeadDim = 3 }, "QKRopeHeadDim: got 3, want an even number"},
		{func(c *config) { c.QKNopeHeadDim = 0 },
			"Attention.NumHeads: got 3 for EmbedDim=10, want a divisor of it, or QKNopeHeadDim"},
		{func(c *config) { c.Attention.NumKVHeads = 3 },
			"Attention.NumKVHeads: got 3, want none: it is no part of latent attention"},
		{func(c *config) { c.Attention.QKNorm = layers.RMSNorm },
			"Attention.QKNorm: got rms, want none: it is no part of latent attention"},
		{func(c *config) { c.Attention.Layout = layers.GPT2 }, `Attention.Layout: got "gpt2", want "llama", or none`},
		{func(c *config) { c.Attention.RoPE = &graph.RoPEConfig{Dims: 2} },
			"Attention.RoPE.Dims: got 2, want 0: they are QKRopeHeadDim"},
		{func(c *config) { c.Attention.Dropout = 2 }, "Attention.Dropout: got 2, want a number from 0 to below 1"},
	} {
		c := full
		row.change(&c)
		require.EqualError(t, c.Validate(), "layers: LatentAttention: "+row.want)
	}
	block := latentDecoder()
	block.Blocks[0].Linear = &layers.LinearAttentionConfig{}
	require.EqualError(t, block.Validate(),
		"layers: Decoder: Blocks[0].Latent: got one beside Linear, want one of the two")
}
