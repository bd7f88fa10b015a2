package train_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"attention/train"
)

// texts are seeds: of each kind of trouble one.
func texts() []string {
	return []string{
		"", "Hello, do you like tea?", "<|endoftext|>", "a\x7f's \x00\x7f", "don't  'S\r\n\t 12²", "\u0085\u180e\u00a0 x",
		"naïve e\u0301 日本語 עברית 👨‍👩‍👧\ufeff\ufffd\U0010ffff", "\xff\xc3\x28\xed\xa0\x80\xf4\x90\x80\x80", "ab\xe2\x82",
		"                                                                x", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	}
}

// requireRoundTrip checks the ids of a text that a tokenizer accepts.
func requireRoundTrip(t *testing.T, tokenizer train.Tokenizer, text string) {
	ids, err := tokenizer.Encode(text)
	require.NoError(t, err)
	for _, id := range ids {
		require.True(t, id >= 0 && id < tokenizer.Len())
	}
	back, err := tokenizer.Decode(ids)
	require.NoError(t, err)
	require.Equal(t, text, back)
}

// FuzzVocabulary encodes a text with its own characters and those of another.
func FuzzVocabulary(f *testing.F) {
	for i, text := range texts() {
		f.Add(text, texts()[len(texts())-1-i])
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		v, err := train.NewVocabulary(text)
		if text == "" || !utf8.ValidString(text) {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		requireRoundTrip(t, v, text)
		again, err := v.Config().New()
		require.NoError(t, err)
		require.Equal(t, v, again)
		if _, err := v.Encode(other); err == nil {
			requireRoundTrip(t, v, other)
		}
	})
}

func FuzzByteTokenizer(f *testing.F) {
	for _, text := range texts() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		requireRoundTrip(t, train.ByteTokenizer{}, text)
	})
}

func FuzzGPT2Tokenizer(f *testing.F) {
	for _, text := range texts() {
		f.Add(text)
	}
	g := train.NewGPT2Tokenizer()
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			_, err := g.Encode(text)
			require.ErrorContains(t, err, "want UTF-8")
			return
		}
		requireRoundTrip(t, g, text)
	})
}

// FuzzDecoder takes any bytes for ids of the bytes' tokenizer, and any two for one
// of GPT-2's. At each step, what the decoder gave and would give at an end is what
// the ids so far mean.
func FuzzDecoder(f *testing.F) {
	for _, text := range texts() {
		f.Add([]byte(text))
	}
	g, begun := train.NewGPT2Tokenizer(), beginnings()
	f.Fuzz(func(t *testing.T, data []byte) {
		bytes, pairs := make([]int, len(data)), make([]int, len(data)/2)
		for i, b := range data {
			bytes[i] = int(b)
		}
		for i := range pairs {
			pairs[i] = (int(data[2*i])<<8 | int(data[2*i+1])) % g.Len()
		}
		requireStream(t, train.ByteTokenizer{}, bytes, begun)
		requireStream(t, g, pairs, begun)
	})
}

func requireStream(t *testing.T, tokenizer train.Tokenizer, ids []int, begun map[string]bool) {
	d := train.NewDecoder(tokenizer)
	out := ""
	for i, id := range ids[:min(len(ids), 200)] {
		part, err := d.Decode(id)
		require.NoError(t, err)
		out += part
		all, err := tokenizer.Decode(ids[:i+1])
		require.NoError(t, err)
		ended := *d
		require.Equal(t, replaced(all, begun), out+ended.Flush())
	}
}

// FuzzTokenizerConfig reads any JSON. What is accepted makes a tokenizer that
// writes down as itself.
func FuzzTokenizerConfig(f *testing.F) {
	for _, data := range []string{
		`{"characters":"abc"}`, `{"tokenizer":"characters","characters":"\n\u003cé🙂"}`, `{"tokenizer":"bytes"}`, `{"tokenizer":"gpt2"}`,
		`{}`, `null`, `{"tokenizer":"bytes","characters":"a"}`, `{"characters":"\ud800"}`, `{"characters":"ba"}`, `{"characters":7}`,
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c train.TokenizerConfig
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
		var read train.TokenizerConfig
		require.NoError(t, json.Unmarshal(written, &read))
		require.Equal(t, tokenizer.Config(), read)
		requireRoundTrip(t, tokenizer, c.Characters)
	})
}
