package text_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"attention/train/text"
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

// FuzzVocabulary encodes a text with its own characters and those of another.
func FuzzVocabulary(f *testing.F) {
	for i, s := range texts() {
		f.Add(s, texts()[len(texts())-1-i])
	}
	f.Fuzz(func(t *testing.T, s, other string) {
		v, err := text.NewVocabulary(s)
		if s == "" || !utf8.ValidString(s) {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		requireRoundTrip(t, v, s)
		again, err := v.Config().New()
		require.NoError(t, err)
		require.Equal(t, v, again)
		if _, err := v.Encode(other); err == nil {
			requireRoundTrip(t, v, other)
		}
	})
}

func FuzzByteTokenizer(f *testing.F) {
	for _, s := range texts() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		requireRoundTrip(t, text.ByteTokenizer{}, s)
	})
}

func FuzzGPT2Tokenizer(f *testing.F) {
	for _, s := range texts() {
		f.Add(s)
	}
	g := text.NewGPT2Tokenizer()
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			_, err := g.Encode(s)
			require.ErrorContains(t, err, "want UTF-8")
			return
		}
		requireRoundTrip(t, g, s)
	})
}

// FuzzDecoder takes any bytes for ids of the bytes' tokenizer, and any two for one
// of GPT-2's. At each step, what the decoder gave and would give at an end is what
// the ids so far mean.
func FuzzDecoder(f *testing.F) {
	for _, s := range texts() {
		f.Add([]byte(s))
	}
	g, begun := text.NewGPT2Tokenizer(), beginnings()
	f.Fuzz(func(t *testing.T, data []byte) {
		bytes, pairs := make([]int, len(data)), make([]int, len(data)/2)
		for i, b := range data {
			bytes[i] = int(b)
		}
		for i := range pairs {
			pairs[i] = (int(data[2*i])<<8 | int(data[2*i+1])) % g.Len()
		}
		requireStream(t, text.ByteTokenizer{}, bytes, begun)
		requireStream(t, g, pairs, begun)
	})
}

func requireStream(t *testing.T, tokenizer text.Tokenizer, ids []int, begun map[string]bool) {
	d := text.NewDecoder(tokenizer)
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
