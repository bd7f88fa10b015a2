package generate

import (
	"context"
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/internal/safetensors"
	"attention/layers/generate"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// A model folder of another family continues a text: its tokenizer begins it, only tokens of the tokenizer are drawn,
// and it ends at the ids of generation_config.json.
func TestGenerateFamily(t *testing.T) {
	dir := commandtest.SmallLlama(t)
	g, err := pretrained.ReadGPT(dir)
	require.NoError(t, err)
	begin, err := g.Tokenizer.Encode("the cat")
	require.NoError(t, err)
	texts, err := generate.New(g.Model, generate.Config{VocabSize: 265})
	require.NoError(t, err)
	require.NoError(t, texts.Prompt(t.Context(), append([]int{264}, begin...)))
	want := "the cat"
	for range 6 {
		id, err := texts.Next(t.Context())
		require.NoError(t, err)
		if id == 264 || id == 65 {
			break
		}
		token, err := g.Tokenizer.Decode([]int{id})
		require.NoError(t, err)
		want += token
	}
	file := filepath.Join(t.TempDir(), "weights")
	text, notes, err := generated(context.Background(), "--model", dir, "--prompt", "the cat", "--tokens", "6",
		"--temperature", "0", "--weights", file)
	require.NoError(t, err)
	require.Empty(t, notes)
	require.Equal(t, want+"\n", text)
	weights, err := safetensors.ReadFile(file)
	require.NoError(t, err)
	require.Len(t, weights.Tensors, 2)
	for _, x := range weights.Tensors {
		require.Contains(t, x.Name, "self_attn")
		require.Equal(t, 3, x.Shape[0])
	}
}
