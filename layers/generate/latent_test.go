package generate_test

import (
	"testing"

	"attention/layers"
	"attention/layers/generate"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// A model with latent attention continues texts from its latents as it does without a cache, several at once too, and
// past its context.
func TestLatentAttentionGenerates(t *testing.T) {
	block := layers.BlockConfig{Attention: layers.AttentionConfig{EmbedDim: 12, NumHeads: 3},
		Latent: &layers.LatentAttentionConfig{QLoraRank: 5, KVLoraRank: 7}}
	c := layers.DecoderConfig{VocabSize: 13, ContextLength: 40, NumLayers: 2, Blocks: []layers.BlockConfig{block}}
	m, err := layers.NewDecoder(layers.NewParams(tensor.Float64, 3).Scope(""), c)
	require.NoError(t, err)
	settings := generate.Config{Slide: true}
	g, err := generate.NewBatch(m, 2, settings)
	require.NoError(t, err)
	require.NoError(t, g.Prompt(ctx, [][]int{ids(21, 13), ids(3, 13)}))
	var plain [2]*generate.Generator
	for i, n := range []int{21, 3} {
		plain[i], err = generate.NewWithoutCache(m, 40, settings)
		require.NoError(t, err)
		require.NoError(t, plain[i].Prompt(ctx, ids(n, 13)))
	}
	for range 17 { // up to the context
		got, err := g.Next(ctx)
		require.NoError(t, err)
		for i := range plain {
			want, err := plain[i].Next(ctx)
			require.NoError(t, err)
			require.Equal(t, want, got[i])
			require.InDeltaSlice(t, plain[i].Logits(), g.Logits(i), 1e-12)
		}
	}
	for range 45 {
		_, err := g.Next(ctx)
		require.NoError(t, err)
	}
	require.Equal(t, 2*2*40*(7+2)*8, g.Memory().Cache, "two layers, two texts")
}
