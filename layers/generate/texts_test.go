package generate_test

import (
	"testing"

	"attention/layers"
	"attention/layers/generate"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// A generator is the only one of some texts: it draws the same tokens until it is stopped.
func TestTextsOfOne(t *testing.T) {
	_, m := small(t, tensor.Float32, layers.GPTConfig{VocabSize: 11, ContextLength: 13, EmbedDim: 6, NumLayers: 2,
		NumHeads: 3})
	c := generate.Config{Temperature: 1, Seed: 3}
	g := must(generate.New(m, c))
	require.NoError(t, g.Prompt(t.Context(), []int{1, 2}))
	want := draw(t, g, 3)

	g = must(generate.New(m, c))
	texts := g.Texts()
	require.EqualError(t, texts.Prompt(t.Context(), nil), "generate: prompts: got 0, want one")
	require.NoError(t, texts.Prompt(t.Context(), [][]int{{1, 2}}))
	for _, id := range want {
		require.Equal(t, []int{id}, must(texts.Next(t.Context())))
	}
	texts.Stop(0)
	require.Equal(t, []int{-1}, must(texts.Next(t.Context())))
	require.Equal(t, g.Memory(), texts.Memory())
}
