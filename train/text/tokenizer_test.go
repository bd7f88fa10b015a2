package text_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"attention/train/text"
)

func TestTokenizerConfig(t *testing.T) {
	for _, row := range []struct {
		config text.TokenizerConfig
		json   string
		length int
	}{
		{text.TokenizerConfig{Name: text.Characters, Characters: "\n<é🙂"}, `{"tokenizer":"characters","characters":"\n\u003cé🙂"}`, 4},
		{text.TokenizerConfig{Name: text.Bytes}, `{"tokenizer":"bytes"}`, 256},
		{text.TokenizerConfig{Name: text.GPT2}, `{"tokenizer":"gpt2"}`, 50257},
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
		{text.TokenizerConfig{}, "Characters: got none, want at least one"},
		{text.TokenizerConfig{Name: text.Characters}, "Characters: got none, want at least one"},
		{text.TokenizerConfig{Characters: "acb"}, "Characters: got 'b' after 'c', want ascending characters"},
		{text.TokenizerConfig{Characters: "aa"}, "Characters: got 'a' after 'a', want ascending characters"},
		{text.TokenizerConfig{Characters: "a\xffb"}, "Characters: got byte 0xff at offset 1, want UTF-8"},
		{text.TokenizerConfig{Name: "GPT2"}, `Name: got "GPT2", want one of characters, bytes, gpt2`},
		{text.TokenizerConfig{Name: text.Bytes, Characters: "ab"}, `Characters: got some with Name=bytes, want none: only characters has them`},
		{text.TokenizerConfig{Name: text.GPT2, Characters: "ab"}, `Characters: got some with Name=gpt2, want none: only characters has them`},
	} {
		require.EqualError(t, row.config.Validate(), row.want)
		tokenizer, err := row.config.New()
		require.EqualError(t, err, "text: "+row.want)
		require.Nil(t, tokenizer)
	}
}

// tokenizers makes one of each kind; the vocabulary has the characters of text,
// which may not be empty.
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
