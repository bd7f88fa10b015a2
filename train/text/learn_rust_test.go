package text_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// TestRustReadsLearned: the engine in Rust reads a learned file and gives the same ids and texts.
func TestRustReadsLearned(t *testing.T) {
	requireRust(t)
	texts := text.Nasty(10_000, []string{text.EndOfText})
	content, err := text.LearnBytePairs(strings.Join(texts[:3000], " "), 2048)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), text.TokenizerFile)
	require.NoError(t, os.WriteFile(file, content, 0o644))
	tokenizer, err := text.OpenTokenizer(file)
	require.NoError(t, err)
	answer := askRust(t, file, texts, nil)
	for i, s := range texts {
		ids, err := tokenizer.Encode(s)
		require.NoError(t, err)
		require.Equal(t, answer.IDs[i], ids, "%q", s)
		require.Equal(t, answer.Texts[i], strings.Join(stream(t, tokenizer, ids), ""), "%q", s)
	}
}
