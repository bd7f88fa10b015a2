package text_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

func TestTokenizerConfig(t *testing.T) {
	for _, row := range []struct {
		config text.TokenizerConfig
		json   string
		length int
	}{
		{config: text.TokenizerConfig{Name: text.Characters, Characters: "\n<é🙂"}, length: 4,
			json: `{"tokenizer":"characters","characters":"\n\u003cé🙂"}`},
		{config: text.TokenizerConfig{Name: text.Bytes}, json: `{"tokenizer":"bytes"}`, length: 256},
		{config: text.TokenizerConfig{Name: text.GPT2}, json: `{"tokenizer":"gpt2"}`, length: 50257},
	} {
		tokenizer, err := row.config.New()
		require.NoError(t, err)
		require.Equal(t, row.length, tokenizer.Len())
		require.Equal(t, row.config, tokenizer.Config())
		data, err := json.Marshal(tokenizer.Config())
		require.NoError(t, err)
		require.Equal(t, row.json, string(data))
		var read text.TokenizerConfig
		require.NoError(t, json.Unmarshal(data, &read))
		require.Equal(t, row.config, read)
	}
}

func TestTokenizerConfigWithoutName(t *testing.T) {
	var c text.TokenizerConfig
	require.NoError(t, json.Unmarshal([]byte(`{"characters": "abc"}`), &c))
	tokenizer, err := c.New()
	require.NoError(t, err)
	ids, err := tokenizer.Encode("cab")
	require.NoError(t, err)
	require.Equal(t, []int{2, 0, 1}, ids)
	require.Equal(t, text.TokenizerConfig{Name: text.Characters, Characters: "abc"}, tokenizer.Config())
}

func TestTokenizerConfigErrors(t *testing.T) {
	for _, row := range []struct {
		config text.TokenizerConfig
		want   string
	}{
		{config: text.TokenizerConfig{}, want: "Characters: got none, want at least one"},
		{config: text.TokenizerConfig{Name: text.Characters}, want: "Characters: got none, want at least one"},
		{config: text.TokenizerConfig{Characters: "acb"},
			want: "Characters: got 'b' after 'c', want ascending characters"},
		{config: text.TokenizerConfig{Characters: "aa"},
			want: "Characters: got 'a' after 'a', want ascending characters"},
		{config: text.TokenizerConfig{Characters: "a\xffb"},
			want: "Characters: got byte 0xff at offset 1, want UTF-8"},
		{config: text.TokenizerConfig{Name: "GPT2"},
			want: `Name: got "GPT2", want one of characters, bytes, gpt2, tokenizer.json`},
		{config: text.TokenizerConfig{Name: text.Bytes, Characters: "ab"},
			want: `Characters: got some with Name=bytes, want none: only characters has them`},
		{config: text.TokenizerConfig{Name: text.GPT2, Characters: "ab"},
			want: `Characters: got some with Name=gpt2, want none: only characters has them`},
	} {
		require.EqualError(t, row.config.Validate(), row.want)
		tokenizer, err := row.config.New()
		require.EqualError(t, err, "text: "+row.want)
		require.Nil(t, tokenizer)
	}
}

// tokenizers makes one tokenizer of each kind; the vocabulary is that of the characters of text, which may not be
// empty.
func tokenizers(t testing.TB, s string) []text.Tokenizer {
	v, err := text.NewVocabulary(s)
	require.NoError(t, err)
	return []text.Tokenizer{v, text.ByteTokenizer{}, text.NewGPT2Tokenizer()}
}

func TestTokenizersServeManyGoroutines(t *testing.T) {
	s := "One for all,\n\tand all for one: é\u007f 日本🙂."
	for _, tokenizer := range tokenizers(t, s) {
		var all sync.WaitGroup
		backs := make([]string, 8)
		for i := range backs {
			all.Go(func() {
				for range 50 {
					if ids, err := tokenizer.Encode(s); err == nil {
						backs[i], _ = tokenizer.Decode(ids)
					}
				}
			})
		}
		all.Wait()
		for _, back := range backs {
			require.Equal(t, s, back, tokenizer.Config().Name)
		}
	}
}

// texts are fuzzing seeds, one for each kind of difficulty.
func texts() []string {
	return []string{
		"", "Hello, do you like tea?", "<|endoftext|>", "a\x7f's \x00\x7f",
		"don't  'S\r\n\t 12²", "\u0085\u180e\u00a0 x",
		"naïve e\u0301 日本語 עברית 👨‍👩‍👧\ufeff\ufffd\U0010ffff",
		"\xff\xc3\x28\xed\xa0\x80\xf4\x90\x80\x80", "ab\xe2\x82",
		strings.Repeat(" ", 64) + "x", strings.Repeat("a", 98),
	}
}

// requireRoundTrip checks the ids of a text, if the tokenizer accepts it.
func requireRoundTrip(t *testing.T, tokenizer text.Tokenizer, s string) {
	ids, err := tokenizer.Encode(s)
	require.NoError(t, err)
	for _, id := range ids {
		require.True(t, id >= 0 && id < tokenizer.Len())
	}
	back, err := tokenizer.Decode(ids)
	require.NoError(t, err)
	require.Equal(t, s, back)
}

// FuzzTokenizerConfig reads any JSON. An accepted config makes a tokenizer whose Config equals it.
func FuzzTokenizerConfig(f *testing.F) {
	for _, data := range []string{
		`{"characters":"abc"}`, `{"tokenizer":"characters","characters":"\n\u003cé🙂"}`,
		`{"tokenizer":"bytes"}`, `{"tokenizer":"gpt2"}`,
		`{}`, `null`, `{"tokenizer":"bytes","characters":"a"}`,
		`{"characters":"\ud800"}`, `{"characters":"ba"}`, `{"characters":7}`,
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c text.TokenizerConfig
		if json.Unmarshal(data, &c) != nil {
			return
		}
		tokenizer, err := c.New()
		if err != nil {
			require.Nil(t, tokenizer)
			return
		}
		written, err := json.Marshal(tokenizer.Config())
		require.NoError(t, err)
		var read text.TokenizerConfig
		require.NoError(t, json.Unmarshal(written, &read))
		require.Equal(t, tokenizer.Config(), read)
		requireRoundTrip(t, tokenizer, c.Characters)
	})
}

// TestOpen: a tokenizer from a file is read from the folder, if the file has the config's checksum.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	content, err := text.LearnBytePairs("a text", 257)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, text.TokenizerFile), content, 0o644))
	learned, err := text.ReadTokenizer(content)
	require.NoError(t, err)
	c := learned.Config()
	require.Equal(t, text.TokenizerConfig{Name: text.TokenizerFile, SHA256: c.SHA256}, c)
	opened, err := c.Open(dir)
	require.NoError(t, err)
	require.Equal(t, c, opened.Config())
	_, err = text.TokenizerConfig{Name: text.TokenizerFile}.Open(dir)
	require.NoError(t, err, "any file")
	other := text.TokenizerConfig{Name: text.TokenizerFile, SHA256: "0"}
	_, err = other.Open(dir)
	require.EqualError(t, err, filepath.Join(dir, text.TokenizerFile)+": got a file with SHA-256 "+c.SHA256+
		", want 0, that of the model's tokenizer")
	require.EqualError(t, text.TokenizerConfig{Name: text.Bytes, SHA256: "0"}.Validate(),
		"SHA256: got one with Name=bytes, want none: only tokenizer.json has it")
}
