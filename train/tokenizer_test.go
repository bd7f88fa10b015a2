package train_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"attention/train"
)

func TestTokenizerConfig(t *testing.T) {
	for _, row := range []struct {
		config train.TokenizerConfig
		json   string
		length int
	}{
		{train.TokenizerConfig{Name: train.Characters, Characters: "\n<é🙂"}, `{"tokenizer":"characters","characters":"\n\u003cé🙂"}`, 4},
		{train.TokenizerConfig{Name: train.Bytes}, `{"tokenizer":"bytes"}`, 256},
		{train.TokenizerConfig{Name: train.GPT2}, `{"tokenizer":"gpt2"}`, 50257},
	} {
		tokenizer, err := row.config.New()
		require.NoError(t, err)
		require.Equal(t, row.length, tokenizer.Len())
		require.Equal(t, row.config, tokenizer.Config())
		data, err := json.Marshal(tokenizer.Config())
		require.NoError(t, err)
		require.Equal(t, row.json, string(data))
		var read train.TokenizerConfig
		require.NoError(t, json.Unmarshal(data, &read))
		require.Equal(t, row.config, read)
	}
}

func TestTokenizerConfigWithoutName(t *testing.T) {
	var c train.TokenizerConfig
	require.NoError(t, json.Unmarshal([]byte(`{"characters": "abc"}`), &c))
	tokenizer, err := c.New()
	require.NoError(t, err)
	ids, err := tokenizer.Encode("cab")
	require.NoError(t, err)
	require.Equal(t, []int{2, 0, 1}, ids)
	require.Equal(t, train.TokenizerConfig{Name: train.Characters, Characters: "abc"}, tokenizer.Config())
}

func TestTokenizerConfigErrors(t *testing.T) {
	for _, row := range []struct {
		config train.TokenizerConfig
		want   string
	}{
		{train.TokenizerConfig{}, "train: vocabulary: got no characters, want at least one"},
		{train.TokenizerConfig{Name: train.Characters}, "train: vocabulary: got no characters, want at least one"},
		{train.TokenizerConfig{Characters: "acb"}, "train: vocabulary: got 'b' after 'c', want ascending characters"},
		{train.TokenizerConfig{Characters: "aa"}, "train: vocabulary: got 'a' after 'a', want ascending characters"},
		{train.TokenizerConfig{Characters: "a\xffb"}, "train: text: got byte 0xff at offset 1, want UTF-8"},
		{train.TokenizerConfig{Name: "GPT2"}, `train: tokenizer: got "GPT2", want "characters", "bytes" or "gpt2"`},
		{train.TokenizerConfig{Name: train.Bytes, Characters: "ab"}, `train: tokenizer bytes: got characters, want none: only "characters" has them`},
		{train.TokenizerConfig{Name: train.GPT2, Characters: "ab"}, `train: tokenizer gpt2: got characters, want none: only "characters" has them`},
	} {
		require.EqualError(t, row.config.Validate(), row.want)
		tokenizer, err := row.config.New()
		require.EqualError(t, err, row.want)
		require.Nil(t, tokenizer)
	}
}

func TestByteTokenizer(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	var b train.ByteTokenizer
	ids, err := b.Encode(string(every))
	require.NoError(t, err)
	for i, id := range ids {
		require.Equal(t, i, id)
	}
	back, err := b.Decode(ids)
	require.NoError(t, err)
	require.Equal(t, string(every), back)

	ids, err = b.Encode("é")
	require.NoError(t, err)
	require.Equal(t, []int{0xc3, 0xa9}, ids)
	_, err = b.Decode([]int{0, 256})
	require.EqualError(t, err, "train: ids: got 256 at position 1, want 0 to 255")
	_, err = b.Decode([]int{-1})
	require.EqualError(t, err, "train: ids: got -1 at position 0, want 0 to 255")
}

// tokenizers makes one of each kind; the vocabulary has the characters of text,
// which may not be empty.
func tokenizers(t testing.TB, text string) []train.Tokenizer {
	v, err := train.NewVocabulary(text)
	require.NoError(t, err)
	return []train.Tokenizer{v, train.ByteTokenizer{}, train.NewGPT2Tokenizer()}
}

func TestTokenizersServeManyGoroutines(t *testing.T) {
	text := "One for all,\n\tand all for one: é\u007f 日本🙂."
	for _, tokenizer := range tokenizers(t, text) {
		var all sync.WaitGroup
		backs := make([]string, 8)
		for i := range backs {
			all.Go(func() {
				for range 50 {
					if ids, err := tokenizer.Encode(text); err == nil {
						backs[i], _ = tokenizer.Decode(ids)
					}
				}
			})
		}
		all.Wait()
		for _, back := range backs {
			require.Equal(t, text, back, tokenizer.Config().Name)
		}
	}
}
