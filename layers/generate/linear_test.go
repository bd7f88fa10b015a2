package generate_test

import (
	"context"
	"testing"

	"attention/layers"
	"attention/layers/generate"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// A model with linear attention continues a text from its states as it does without a cache, also behind a text that it
// must go back in, and one that slides.
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
}

// Texts of several lengths are continued together as each is alone, when they slide, after an error and after Reset.
func TestLinearAttentionGeneratesSeveral(t *testing.T) {
	block := layers.BlockConfig{Attention: layers.AttentionConfig{EmbedDim: 12, NumHeads: 3}}
	c := layers.DecoderConfig{VocabSize: 13, ContextLength: 40, NumLayers: 3, Pattern: []int{0, 1, 2}}
	for _, name := range []string{"gated_delta_net", "linear"} {
		form, err := layers.LinearAttentionOf(name)
		require.NoError(t, err)
		linear := block
		linear.Linear = &form
		c.Blocks = append(c.Blocks, linear)
	}
	c.Blocks = append(c.Blocks, block)
	m, err := layers.NewDecoder(layers.NewParams(tensor.Float64, 3).Scope(""), c)
	require.NoError(t, err)
	lengths := []int{21, 3, 38}
	g, err := generate.NewBatch(m, 3, generate.Config{Temperature: 1, Seed: 7, Slide: true})
	require.NoError(t, err)
	for round := range 2 {
		var alone [3]*generate.Generator
		var prompts [][]int
		for i, n := range lengths {
			alone[i], err = generate.New(m, generate.Config{Temperature: 1, Seed: int64(7 + i), Slide: true})
			require.NoError(t, err)
			prompts = append(prompts, ids(n, 13))
			require.NoError(t, alone[i].Prompt(ctx, prompts[i]))
		}
		require.NoError(t, g.Prompt(ctx, prompts))
		for step := range 50 {
			if step%10 == 9 {
				_, err := g.Next(&countdown{Context: ctx, left: 20 + step}) // between the layers
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
			got, err := g.Next(ctx)
			require.NoError(t, err)
			for i := range alone {
				want, err := alone[i].Next(ctx)
				require.NoError(t, err)
				require.Equal(t, want, got[i], "round %d, step %d, text %d", round, step, i)
				require.InDeltaSlice(t, alone[i].Logits(), g.Logits(i), 1e-12)
			}
		}
		g.Reset()
	}

	g, err = generate.NewBatch(m, 2, generate.Config{})
	require.NoError(t, err)
	require.NoError(t, g.Prompt(ctx, [][]int{ids(38, 13), ids(3, 13)}))
	alone, err := generate.New(m, generate.Config{})
	require.NoError(t, err)
	require.NoError(t, alone.Prompt(ctx, ids(3, 13)))
	for step := range 30 {
		if step == 2 {
			g.Stop(0) // which is full
		}
		got, err := g.Next(ctx)
		require.NoError(t, err)
		want, err := alone.Next(ctx)
		require.NoError(t, err)
		require.Equal(t, want, got[1])
		require.InDeltaSlice(t, alone.Logits(), g.Logits(1), 1e-12)
	}
}
