package text_test

import (
	"strings"
	"testing"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

func TestEncode(t *testing.T) {
	for _, row := range []struct {
		reason string
		of     text.TokenizerConfig
		ids    []int
		want   text.TokenizerConfig
		unit   string
		err    string
	}{
		{reason: "the text's characters", ids: []int{1, 0, 1}, unit: "characters",
			want: text.TokenizerConfig{Name: text.Characters, Characters: "ab"}},
		{reason: "given characters", of: text.TokenizerConfig{Characters: "abc"}, ids: []int{1, 0, 1}, unit: "characters",
			want: text.TokenizerConfig{Name: text.Characters, Characters: "abc"}},
		{reason: "other characters", of: text.TokenizerConfig{Characters: "a"}, err: "'b'"},
		{reason: "bytes", of: text.TokenizerConfig{Name: text.Bytes}, ids: []int{'b', 'a', 'b'}, unit: "bytes",
			want: text.TokenizerConfig{Name: text.Bytes}},
		{reason: "GPT-2's", of: text.TokenizerConfig{Name: text.GPT2}, ids: []int{65, 397}, unit: "tokens",
			want: text.TokenizerConfig{Name: text.GPT2}},
		{reason: "no tokenizer", of: text.TokenizerConfig{Name: "words"}, err: "want one of"},
	} {
		ids, tokenizer, err := row.of.Encode("bab")
		if row.err != "" {
			require.ErrorContains(t, err, row.err, row.reason)
			continue
		}
		require.NoError(t, err, row.reason)
		require.Equal(t, row.ids, ids, row.reason)
		require.Equal(t, row.want, tokenizer.Config(), row.reason)
		require.Equal(t, row.unit, tokenizer.Config().Unit(), row.reason)
	}
}

func TestNewCorpus(t *testing.T) {
	ids, tokenizer, err := text.TokenizerConfig{}.Encode(strings.Repeat("ab ", 20))
	require.NoError(t, err)
	c, err := text.NewCorpus(ids, tokenizer, 3)
	require.NoError(t, err)
	require.Equal(t, []int{54, 6}, []int{len(c.Training), len(c.Validation)})
	want, err := text.NewNGram(c.Training, c.Validation, 3)
	require.NoError(t, err)
	require.Equal(t, want, *c.NGram)
	large, err := text.NewCorpus(ids, text.NewGPT2Tokenizer(), 3)
	require.NoError(t, err)
	require.Nil(t, large.NGram, "most pairs of a large vocabulary do not occur")
	_, err = text.NewCorpus(ids, tokenizer, 6)
	require.ErrorContains(t, err, "more than the context of 6")
	_, err = text.NewCorpus(ids, nil, 3)
	require.EqualError(t, err, "text: corpus: got no tokenizer, want one")
}

func TestWords(t *testing.T) {
	for _, row := range []struct {
		reason, text string
		before, n    int
		want         string
	}{
		{reason: "the second word", text: "one two three", n: 3, want: "two"},
		{reason: "with tokens before", text: "one two three", before: 2, n: 3, want: "e two"},
		{reason: "a word after those before", text: "one two three", before: 6, n: 5, want: "e two three"},
		{reason: "no word that so many follow", text: "one two", n: 6, want: "one tw"},
		{reason: "no space", text: "一二三", n: 2, want: "一二"},
	} {
		v, err := text.NewVocabulary(row.text)
		require.NoError(t, err)
		ids, err := v.Encode(row.text)
		require.NoError(t, err)
		c := &text.Corpus{Tokenizer: v, Validation: ids}
		got, err := c.Words(row.before, row.n)
		require.NoError(t, err, row.reason)
		words, err := v.Decode(got)
		require.NoError(t, err)
		require.Equal(t, row.want, words, row.reason)
	}
	for _, args := range [][2]int{{-1, 1}, {0, -1}, {0, 4}, {4, 0}, {3, 1}} {
		_, err := (&text.Corpus{Validation: []int{1, 2, 3}}).Words(args[0], args[1])
		require.ErrorContains(t, err, "text: words: got ")
	}
}

func TestCheck(t *testing.T) {
	require.NoError(t, text.Check([]byte("café")))
	require.EqualError(t, text.Check(nil), "got an empty file, want a text")
	require.EqualError(t, text.Check([]byte("caf\xe9")), "got byte 0xe9 at offset 3, want UTF-8")
}

func TestSourcesConfigValidate(t *testing.T) {
	c := &text.Corpus{Training: make([]int, 10), Validation: make([]int, 10)}
	windows := text.WindowConfig{Batch: 1, Context: 2}
	for _, row := range []struct {
		of   text.SourcesConfig
		want string
	}{
		{of: text.SourcesConfig{}, want: "Windows.Batch: got 0, want at least 1"},
		{of: text.SourcesConfig{Windows: windows, Order: "x"}, want: `Order: got "x", want one of random, sequential`},
		{of: text.SourcesConfig{Windows: windows, EvalBatches: -1}, want: "EvalBatches: got -1, want at least 0"},
	} {
		_, _, _, err := c.Sources(row.of)
		require.EqualError(t, err, row.want)
	}
}
