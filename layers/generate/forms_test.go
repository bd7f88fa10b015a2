package generate_test

import (
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"
	"attention/layers/generate"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// attentionForms are the forms of attention with caches of keys and values, one block each.
var attentionForms = map[string]func(c *layers.AttentionConfig){
	"moba":         func(c *layers.AttentionConfig) { c.Sparse = &graph.BlockSparse{BlockSize: 4, Blocks: 2} },
	"differential": func(c *layers.AttentionConfig) { c.Differential, c.HeadDim = &layers.DifferentialConfig{}, 4 },
	"forgetting":   func(c *layers.AttentionConfig) { c.Forget = true },
	"sigmoid":      func(c *layers.AttentionConfig) { c.Sigmoid = true },
	"window":       func(c *layers.AttentionConfig) { c.Mask = mask.SlidingWindow{Left: 5} },
}

// Models of every form continue texts of several lengths together as each alone, also when they slide, and each as
// without a cache, also behind a text that is rewritten.
func TestFormsGenerate(t *testing.T) {
	for name, form := range attentionForms {
		attention := layers.AttentionConfig{EmbedDim: 12, NumHeads: 6, NumKVHeads: 3}
		form(&attention)
		c := layers.DecoderConfig{VocabSize: 13, ContextLength: 40, NumLayers: 2,
			Blocks: []layers.BlockConfig{{Attention: attention}}}
		m, err := layers.NewDecoder(layers.NewParams(tensor.Float64, 3).Scope(""), c)
		require.NoError(t, err)
		settings := generate.Config{Temperature: 1, Seed: 7, Slide: true}
		batch, err := generate.NewBatch(m, 3, settings)
		require.NoError(t, err)
		prompts := [][]int{ids(21, 13), ids(3, 13), ids(30, 13)}
		require.NoError(t, batch.Prompt(ctx, prompts))
		var alone, plain []*generate.Generator
		for i, prompt := range prompts {
			settings.Seed = int64(7 + i)
			g, err := generate.New(m, settings)
			require.NoError(t, err)
			p, err := generate.NewWithoutCache(m, 40, settings)
			require.NoError(t, err)
			require.NoError(t, g.Prompt(ctx, prompt))
			require.NoError(t, p.Prompt(ctx, prompt))
			alone, plain = append(alone, g), append(plain, p)
		}
		if name == "window" {
			require.Equal(t, 2*6*(6+6)*8, alone[0].Memory().Cache, "two layers keep six tokens")
		}
		for step := range 25 { // the longest slides
			got, err := batch.Next(ctx)
			require.NoError(t, err)
			for i, g := range alone {
				want, err := g.Next(ctx)
				require.NoError(t, err)
				require.Equal(t, want, got[i], "%s, text %d", name, i)
				require.InDeltaSlice(t, g.Logits(), batch.Logits(i), 1e-11, name)
				if step >= 10 {
					continue // a text slides otherwise without a cache
				}
				whole, err := plain[i].Next(ctx)
				require.NoError(t, err)
				require.Equal(t, whole, want, "%s, text %d", name, i)
				require.InDeltaSlice(t, plain[i].Logits(), g.Logits(), 1e-11, name)
			}
		}
		_, err = alone[1].Rewrite(ctx, ids(9, 7)) // which begins otherwise, and goes back
		require.NoError(t, err)
		plain[1].Reset()
		require.NoError(t, plain[1].Prompt(ctx, ids(9, 7)))
		require.InDeltaSlice(t, plain[1].Logits(), alone[1].Logits(), 1e-11, name)
	}
}
