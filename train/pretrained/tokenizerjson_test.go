package pretrained_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"attention/layers"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// TestTokenizerFiles: Hugging Face's tokenizers 0.23.2 read the files with these checksums: they give the ids of
// package text for texts of letters, blanks, accents and emoji, and the texts back, and refuse other characters.
func TestTokenizerFiles(t *testing.T) {
	characters, err := text.NewVocabulary("ab 🙂\n\"é")
	require.NoError(t, err)
	for _, row := range []struct {
		name      string
		tokenizer text.Tokenizer
		sum       string // of tokenizer.json
	}{
		{name: "characters", tokenizer: characters,
			sum: "b489429e7be1d9aed4081487ae5edde9d32963deeee0fd6ffa19293c0eca4830"},
		{name: "bytes", tokenizer: text.ByteTokenizer{},
			sum: "bb0f9456d233557745c7ca3d86dd471db98748ce9554172a2fe4f4280f6a8bae"},
		{name: "GPT-2's is there already", tokenizer: text.NewGPT2Tokenizer()},
		{name: "none"},
	} {
		p := layers.NewParams(tensor.Float32, 1)
		m, err := layers.NewGPT(p.Scope(""), layers.GPTConfig{VocabSize: 16, ContextLength: 4, EmbedDim: 4, NumLayers: 1,
			NumHeads: 1, Activation: "gelu"})
		require.NoError(t, err)
		g := &pretrained.GPT{Model: m, Params: p, Tokenizer: row.tokenizer, EndOfText: -1}
		dir := filepath.Join(t.TempDir(), "model")
		files, err := g.Write(dir, pretrained.WriteConfig{Format: pretrained.HuggingFace})
		require.NoError(t, err)
		if row.sum == "" {
			require.Equal(t, []string{"config.json", "model.safetensors"}, files, row.name)
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, "tokenizer.json"))
		require.NoError(t, err)
		require.Equal(t, row.sum, fmt.Sprintf("%x", sha256.Sum256(content)), row.name)
		var whole struct {
			Model struct{ Vocab map[string]int }
		}
		require.NoError(t, json.Unmarshal(content, &whole))
		require.Len(t, whole.Model.Vocab, row.tokenizer.Len())
	}
}
