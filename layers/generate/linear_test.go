package generate_test

import (
	"testing"

	"attention/layers"
	"attention/layers/generate"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// A model with linear attention continues a text from its states as it does without a cache, also behind a text that it
// must go back in, and one that slides. It cannot continue several at once.
func TestLinearAttentionGenerates(t *testing.T) {
	form, err := layers.LinearAttentionOf("gated_delta_net")
	require.NoError(t, err)
	block := layers.BlockConfig{Attention: layers.AttentionConfig{EmbedDim: 12, NumHeads: 3}, Linear: &form}
	full := block
	full.Linear = nil
	c := layers.DecoderConfig{VocabSize: 13, ContextLength: 40, NumLayers: 3, Blocks: []layers.BlockConfig{block, full},
		Pattern: []int{0, 0, 1}}
	m, err := layers.NewDecoder(layers.NewParams(tensor.Float64, 3).Scope(""), c)
	require.NoError(t, err)
	settings := generate.Config{Temperature: 1, Seed: 7, Slide: true}
	g, err := generate.New(m, settings)
	require.NoError(t, err)
	plain, err := generate.NewWithoutCache(m, 40, settings)
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, g.Prompt(ctx, ids(21, 13)))
		require.NoError(t, plain.Prompt(ctx, ids(21, 13)))
		for range 15 {
			want, err := plain.Next(ctx)
			require.NoError(t, err)
			got, err := g.Next(ctx)
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.InDeltaSlice(t, plain.Logits(), g.Logits(), 1e-12)
		}
		g.Reset()
		plain.Reset()
	}
	require.NoError(t, g.Prompt(ctx, ids(39, 13)))
	for range 60 { // past the context
		_, err := g.Next(ctx)
		require.NoError(t, err)
	}
	_, err = generate.NewBatch(m, 2, settings)
	require.EqualError(t, err, "generate: model: got one with linear attention, want a Generator for each text")
}
