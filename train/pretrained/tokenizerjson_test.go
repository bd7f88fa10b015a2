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

// TestTokenizerFiles: the files have the checksums of files that Hugging Face's tokenizers 0.23.3 read. With them it
// gives the ids of package text for texts of letters, blanks, accents and emoji, decodes the ids to the texts again,
// and refuses other characters.
func TestTokenizerFiles(t *testing.T) {
	characters, err := text.NewVocabulary("ab 🙂\n\"é")
	require.NoError(t, err)
	for _, row := range []struct {
		name      string
		tokenizer text.Tokenizer
		sum       string // of tokenizer.json
	}{
		{name: "characters", tokenizer: characters,
			sum: "cc35ec36736517e6d0cbd17e4a15440fdec5f6ac9b3597feba163c8149ef28e5"},
		{name: "bytes", tokenizer: text.ByteTokenizer{},
			sum: "1859be2d774ccadbeb316e4300cfa10dc5c9f90a7e9cf63cb5b7cebc80a3f250"},
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
