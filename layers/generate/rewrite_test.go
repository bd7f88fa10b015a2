package generate_test

import (
	"context"
	"slices"
	"testing"

	"attention/layers"
	"attention/layers/chapter"
	"attention/layers/generate"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// A rewritten text has the scores of a text that is read from the beginning, and the common prefix of the old and the
// new text is not read again.
func TestRewrite(t *testing.T) {
	_, m := small(t, tensor.Float64, config)
	sampling := generate.Config{Temperature: 1, RepetitionPenalty: 1.5, Capacity: 60}
	g := must(generate.New(m, sampling))
	text := ids(20, 13)
	require.NoError(t, g.Prompt(ctx, text))
	drawn := draw(t, g, 5) // the last of them is not read
	changed := slices.Clone(text)
	changed[7] = (changed[7] + 1) % 13
	for _, row := range []struct {
		name string
		ids  []int
		kept int
	}{
		{"the text, drawn tokens and more", slices.Concat(text, drawn, ids(6, 7)), 24},
		{"the same", slices.Concat(text, drawn, ids(6, 7)), 30},
		{"its beginning", text[:12], 11},
		{"another token", changed, 7},
		{"another text", []int{12, 3}, 0},
		{"one token", []int{12}, 0},
	} {
		kept, err := g.Rewrite(ctx, row.ids)
		require.NoError(t, err, row.name)
		require.Equal(t, row.kept, kept, row.name)
		whole := must(generate.New(m, sampling))
		require.NoError(t, whole.Prompt(ctx, row.ids))
		require.InDeltaSlice(t, whole.Logits(), g.Logits(), 1e-12, row.name)
	}
	require.NoError(t, g.Prompt(ctx, []int{1, 2}))

	sampling.Temperature = 0
	g = must(generate.New(m, sampling))
	var texts [2][]int
	for i := range texts {
		must(g.Rewrite(ctx, []int{3, 5}))
		texts[i] = draw(t, g, 9)
		must(g.Rewrite(ctx, ids(30, 13)))
	}
	require.Equal(t, texts[0], texts[1], "the penalty counts the tokens of the new text alone")
}

// After an error the kept tokens remain, and the text can continue from them.
func TestRewriteFails(t *testing.T) {
	_, m := small(t, tensor.Float64, config)
	g := must(generate.New(m, generate.Config{Capacity: 20}))
	require.NoError(t, g.Prompt(ctx, ids(10, 13)))
	_, err := g.Rewrite(ctx, nil)
	require.EqualError(t, err, "generate: prompt: got no token, want at least one")
	_, err = g.Rewrite(ctx, []int{13})
	require.EqualError(t, err, "generate: prompt: got id 13 at position 0, want 0 to 12")
	require.NotNil(t, g.Logits(), "such errors change nothing")

	_, err = g.Rewrite(ctx, ids(21, 13))
	require.ErrorIs(t, err, generate.ErrFull)
	_, err = g.Next(ctx)
	require.EqualError(t, err, "generate: got no prompt, want at least one token")
	_, err = g.Rewrite(&countdown{Context: ctx, left: 30}, ids(18, 13)) // between the layers
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, 10, must(g.Rewrite(ctx, ids(18, 13))))
	whole := must(generate.New(m, generate.Config{}))
	require.NoError(t, whole.Prompt(ctx, ids(18, 13)))
	require.InDeltaSlice(t, whole.Logits(), g.Logits(), 1e-12)
}

// A generator without a cache keeps nothing.
func TestRewriteWithoutCache(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 3)
	m := must(chapter.NewLanguageModel(p.Scope(""), chapter.LanguageModelConfig{VocabSize: 13, ContextLength: 6,
		EmbedDim: 4, Attention: chapter.Config{Layer: "causal", EmbedDim: 4, OutDim: 4}}))
	var logits [2][]float64
	for i, before := range [][]int{{1, 2, 3}, {4, 4, 4, 4, 4, 4, 4, 4}} {
		g := must(generate.NewWithoutCache(m, 6, generate.Config{}))
		require.NoError(t, g.Prompt(ctx, before))
		require.Zero(t, must(g.Rewrite(ctx, []int{4, 4, 1})))
		logits[i] = g.Logits()
	}
	require.Equal(t, logits[0], logits[1])
}

// A layer whose cache cannot be truncated keeps all tokens, or reads all again.
func TestRewriteStates(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 3)
	attention := layers.AttentionConfig{EmbedDim: 8, NumHeads: 2}
	m := must(layers.NewDecoder(p.Scope(""), layers.DecoderConfig{VocabSize: 13, ContextLength: 30, NumLayers: 2,
		Pattern: []int{0, 1}, Blocks: []layers.BlockConfig{{Attention: attention},
			{Attention: attention, Linear: &layers.LinearAttentionConfig{Delta: true}}}}))
	g := must(generate.New(m, generate.Config{}))
	for _, row := range []struct{ length, kept int }{{9, 0}, {12, 9}, {7, 0}} {
		require.Equal(t, row.kept, must(g.Rewrite(ctx, ids(row.length, 13))))
		whole := must(generate.New(m, generate.Config{}))
		require.NoError(t, whole.Prompt(ctx, ids(row.length, 13)))
		require.InDeltaSlice(t, whole.Logits(), g.Logits(), 1e-12)
	}
}
