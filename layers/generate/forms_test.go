package generate_test

import (
	"context"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"
	"attention/layers/generate"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// formsOfBlocks are models of three layers, named after the form of their attention.
func formsOfBlocks(t *testing.T) map[string][]layers.BlockConfig {
	changed := func(change func(c *layers.AttentionConfig)) []layers.BlockConfig {
		b := layers.BlockConfig{Attention: layers.AttentionConfig{EmbedDim: 12, NumHeads: 6, NumKVHeads: 3}}
		change(&b.Attention)
		return []layers.BlockConfig{b, b, b}
	}
	full := layers.BlockConfig{Attention: layers.AttentionConfig{EmbedDim: 12, NumHeads: 3}}
	delta, linear, latent := full, full, full
	for name, b := range map[string]*layers.BlockConfig{"gated_delta_net": &delta, "linear": &linear} {
		b.Linear = new(must(layers.LinearAttentionOf(name)))
	}
	latent.Attention.Latent = &layers.LatentConfig{QLoraRank: 5, KVLoraRank: 7}
	return map[string][]layers.BlockConfig{
		"moba": changed(func(c *layers.AttentionConfig) { c.Sparse = &graph.BlockSparse{BlockSize: 4, Blocks: 2} }),
		"differential": changed(func(c *layers.AttentionConfig) {
			c.Differential, c.HeadDim = &layers.DifferentialConfig{}, 4
		}),
		"forgetting":   changed(func(c *layers.AttentionConfig) { c.Forget = true }),
		"sigmoid":      changed(func(c *layers.AttentionConfig) { c.Sigmoid = true }),
		"window":       changed(func(c *layers.AttentionConfig) { c.Mask = mask.SlidingWindow{Left: 5} }),
		"delta rule":   {delta, delta, full},
		"two linear":   {delta, linear, full},
		"latent":       {latent, latent, latent},
		"of all kinds": {latent, linear, full},
	}
}

// cacheBytes is the memory of the caches of three layers: for one text, and for a batch of three.
var cacheBytes = map[string][2]int{
	"window": {3 * 6 * (6 + 6) * 8, 3 * 3 * 40 * (6 + 6) * 8}, // one text keeps the six tokens that are seen
	"latent": {3 * 40 * (7 + 2) * 8, 3 * 3 * 40 * (7 + 2) * 8},
}

// With every form of attention, models continue texts of several lengths together as they continue each alone: past
// their context, when they slide, after an error between the layers, next to a full text, and after Reset. Up to the
// context each text continues as without a cache, even after it was rewritten.
func TestFormsGenerate(t *testing.T) {
	for name, blocks := range formsOfBlocks(t) {
		m := must(layers.NewDecoder(layers.NewParams(tensor.Float64, 3).Scope(""), layers.DecoderConfig{VocabSize: 13,
			ContextLength: 40, NumLayers: 3, Blocks: blocks, Pattern: []int{0, 1, 2}}))
		prompts := [][]int{ids(21, 13), ids(3, 13), ids(38, 13)}
		settings := generate.Config{Temperature: 1, Seed: 7, Slide: true}
		batch := must(generate.NewBatch(m, 3, settings))
		var alone, plain []*generate.Generator
		for range prompts {
			alone = append(alone, must(generate.New(m, settings)))
			plain = append(plain, must(generate.NewWithoutCache(m, 40, settings)))
			settings.Seed++
		}
		if want, ok := cacheBytes[name]; ok {
			require.Equal(t, want, [2]int{alone[0].Memory().Cache, batch.Memory().Cache}, name)
		}
		for range 2 {
			require.NoError(t, batch.Prompt(ctx, prompts))
			for i, prompt := range prompts {
				require.NoError(t, alone[i].Prompt(ctx, prompt))
				require.NoError(t, plain[i].Prompt(ctx, prompt))
			}
			for step := range 50 {
				if step%10 == 9 {
					_, err := batch.Next(&countdown{Context: ctx, left: 20 + step}) // between the layers
					require.ErrorIs(t, err, context.DeadlineExceeded)
				}
				got := must(batch.Next(ctx))
				for i, g := range alone {
					require.Equal(t, must(g.Next(ctx)), got[i], "%s, step %d, text %d", name, step, i)
					require.InDeltaSlice(t, g.Logits(), batch.Logits(i), 1e-12, name)
					if len(prompts[i])+step >= 40 {
						continue // a text slides differently without a cache
					}
					require.Equal(t, must(plain[i].Next(ctx)), got[i], "%s, text %d", name, i)
					require.InDeltaSlice(t, plain[i].Logits(), g.Logits(), 1e-12, name)
				}
			}
			batch.Reset()
			for i := range alone {
				alone[i].Reset()
				plain[i].Reset()
			}
		}
		for _, prompt := range [][]int{ids(21, 13), ids(9, 7)} { // it begins differently, so the cache is truncated
			must(alone[1].Rewrite(ctx, prompt))
			plain[1].Reset()
			require.NoError(t, plain[1].Prompt(ctx, prompt))
			require.InDeltaSlice(t, plain[1].Logits(), alone[1].Logits(), 1e-12, name)
		}

		two, one := must(generate.NewBatch(m, 2, generate.Config{})), must(generate.New(m, generate.Config{}))
		require.NoError(t, two.Prompt(ctx, [][]int{prompts[2], prompts[1]}))
		require.NoError(t, one.Prompt(ctx, prompts[1]))
		for step := range 30 {
			if step == 2 {
				two.Stop(0) // which is full
			}
			require.Equal(t, must(one.Next(ctx)), must(two.Next(ctx))[1], name)
			require.InDeltaSlice(t, one.Logits(), two.Logits(1), 1e-12, name)
		}
	}
}
