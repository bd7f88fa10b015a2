package text_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// TestOpenTokenizer opens a file, a folder with it, and one with vocab.json and merges.txt.
func TestOpenTokenizer(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	_, err := text.OpenTokenizer(dir)
	require.EqualError(t, err, dir+": got neither tokenizer.json nor vocab.json with merges.txt, want a tokenizer")
	_, err = text.OpenTokenizer(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)

	write("vocab.json", `{"a": 0, "b": 1, "Ġ": 2, "ab": 3, "Ġab": 4, "<|endoftext|>": 5}`)
	write("merges.txt", "#version: 0.2\na b\nĠ ab\n")
	tokenizer, err := text.OpenTokenizer(dir)
	require.NoError(t, err)
	ids, err := tokenizer.Encode("ab ab<|endoftext|>a b")
	require.NoError(t, err)
	require.Equal(t, []int{3, 4, 5, 0, 2, 1}, ids)
	require.True(t, tokenizer.IsSpecial(5))
	require.Len(t, tokenizer.Files(), 2)
	require.Equal(t, [][2]string{{"a", "b"}, {"Ġ", "ab"}}, tokenizer.Merges())
	write("merges.txt", "#version: 0.2\na b\nĠab\n")
	_, err = text.OpenTokenizer(dir)
	require.EqualError(t, err, filepath.Join(dir, "merges.txt")+
		`: line 3: got merge "Ġab", want two tokens with a blank between them`)

	write(text.TokenizerFile, small())
	for _, path := range []string{dir, filepath.Join(dir, text.TokenizerFile)} {
		tokenizer, err = text.OpenTokenizer(path)
		require.NoError(t, err)
		require.Equal(t, 6, tokenizer.Len())
		require.Equal(t, small(), string(tokenizer.Files()[text.TokenizerFile]))
	}
	sum := sha256.Sum256([]byte(small()))
	config := text.TokenizerConfig{Name: text.TokenizerFile, SHA256: hex.EncodeToString(sum[:])}
	require.Equal(t, config, tokenizer.Config())
	opened, err := config.Open(dir)
	require.NoError(t, err)
	require.Equal(t, 6, opened.Len())
	_, err = config.New()
	require.EqualError(t, err, "text: tokenizer tokenizer.json has a file, want TokenizerConfig.Open of its folder")
	opened, err = text.TokenizerConfig{Name: text.Bytes}.Open("")
	require.NoError(t, err)
	require.Equal(t, text.ByteTokenizer{}, opened)

	huge, err := os.Create(filepath.Join(dir, text.TokenizerFile))
	require.NoError(t, err)
	require.NoError(t, huge.Truncate(1<<30))
	require.NoError(t, huge.Close())
	_, err = text.OpenTokenizer(dir)
	require.ErrorContains(t, err, fmt.Sprintf("got %d bytes, want at most %d", 1<<30, 64<<20))
}
