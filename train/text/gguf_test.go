package text_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/internal/gguf"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// ggufFile writes a file with settings after changes, and returns its path.
func ggufFile(t testing.TB, settings []gguf.Setting, changes ...gguf.Setting) string {
	for _, c := range changes {
		settings = slices.DeleteFunc(slices.Clone(settings), func(s gguf.Setting) bool { return s.Key == c.Key })
		if c.Value != nil {
			settings = append(settings, c)
		}
	}
	path := filepath.Join(t.TempDir(), "x.gguf")
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, gguf.Write(file, &gguf.File{Settings: settings}))
	require.NoError(t, file.Close())
	return path
}

// The tokens of a byte-pair encoding, and of SentencePiece, whose pairs are those that make a token.
var (
	pairTokens = []gguf.Setting{{Key: "tokenizer.ggml.model", Value: "gpt2"}, {Key: "tokenizer.ggml.pre", Value: "gpt-2"},
		{Key: "tokenizer.ggml.tokens", Value: []string{"a", "b", "Ġ", "ab", "Ġab", "<|x|>", "<u>", "[PAD7]"}},
		{Key: "tokenizer.ggml.token_type", Value: []int32{1, 1, 1, 1, 1, 3, 4, 5}},
		{Key: "tokenizer.ggml.merges", Value: []string{"a b", "Ġ ab"}},
		{Key: "tokenizer.ggml.bos_token_id", Value: uint32(5)}, {Key: "tokenizer.ggml.eos_token_id", Value: int32(5)},
		{Key: "tokenizer.chat_template", Value: "{{ bos_token }}{{ messages[0].content }}"}}
	pieceTokens = []gguf.Setting{{Key: "tokenizer.ggml.model", Value: "llama"},
		{Key: "tokenizer.ggml.tokens", Value: []string{"<unk>", "<s>", "</s>", "<0x0A>", "▁", "a", "b", "ab", "▁a", "▁ab"}},
		{Key: "tokenizer.ggml.token_type", Value: []int32{2, 3, 3, 6, 1, 1, 1, 1, 1, 1}},
		{Key: "tokenizer.ggml.scores", Value: []float32{0, 0, 0, 0, -9, -9, -9, -3, -2, -1}}}
)

// A file's tokenizer has the ids of llama.cpp. Larger ones are compared with it in train/pretrained.
func TestOpenGGUF(t *testing.T) {
	set := func(key string, value any) gguf.Setting {
		return gguf.Setting{Key: "tokenizer.ggml." + key, Value: value}
	}
	for _, c := range []struct {
		name     string
		settings []gguf.Setting
		change   gguf.Setting
		given    string
		want     []int
	}{
		{"pairs", pairTokens, gguf.Setting{}, "ab ab<|x|>a<u>b", []int{3, 4, 5, 0, 6, 1}},
		{"begin", pairTokens, set("add_bos_token", true), "ab", []int{5, 3}},
		{"end", pairTokens, set("add_eos_token", true), "ab", []int{3, 5}},
		{"another name", pairTokens, set("pre", "olmo"), "ab ab", []int{3, 4}},
		{"Llama 3 begins", pairTokens, set("pre", "llama3"), "ab", []int{5, 3}},
		{"pieces", pieceTokens, gguf.Setting{}, "ab\n b", []int{1, 9, 3, 4, 6}},
		{"pieces without a blank", pieceTokens, set("add_space_prefix", false), "ab", []int{1, 7}},
		{"the blank after a token", pieceTokens, gguf.Setting{}, "a</s>ab", []int{1, 8, 2, 9}},
		{"unknown", pieceTokens, gguf.Setting{}, "ac", []int{1, 8, 0}},
		{"no beginning", pieceTokens, set("add_bos_token", false), "a", []int{8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			of, err := text.OpenTokenizer(ggufFile(t, c.settings, c.change))
			require.NoError(t, err)
			ids, err := of.Encode(c.given)
			require.NoError(t, err)
			require.Equal(t, c.want, of.WithTemplate(ids))
		})
	}
	path := ggufFile(t, pairTokens)
	of, err := text.OpenTokenizer(path)
	require.NoError(t, err)
	require.True(t, of.IsSpecial(5))
	require.False(t, of.IsSpecial(6))
	require.Equal(t, 7, of.Len())
	again, err := text.TokenizerConfig{Name: text.TokenizerFile, SHA256: of.Config().SHA256}.Open(path)
	require.NoError(t, err)
	require.Equal(t, of.Files(), again.(*text.SubwordTokenizer).Files())

	talk, err := text.OpenTemplate(path, "", nil)
	require.NoError(t, err)
	require.Equal(t, []string{"<|x|>", "<|x|>"}, []string{talk.BOS, talk.EOS})
	_, err = text.OpenTemplate(ggufFile(t, pieceTokens), "", nil)
	require.ErrorIs(t, err, text.ErrNoTemplate)
	talk, err = text.OpenTemplate(path, text.Alpaca, of)
	require.NoError(t, err)
	require.Equal(t, "<|x|>", talk.EOS)
}

// A tokenizer that llama.cpp would treat differently, or contents that are not a tokenizer, is an error.
func TestOpenGGUFWrong(t *testing.T) {
	set := func(key string, value any) gguf.Setting {
		return gguf.Setting{Key: "tokenizer.ggml." + key, Value: value}
	}
	for _, c := range []struct {
		settings []gguf.Setting
		change   gguf.Setting
		want     string
	}{
		{pairTokens, set("model", "t5"), `tokenizer.ggml.model: got "t5", want gpt2 or llama`},
		{pairTokens, set("model", nil), `tokenizer.ggml.model: got "", want gpt2 or llama`},
		{pairTokens, set("model", uint32(1)), "setting tokenizer.ggml.model: got a uint32, want a string"},
		{pairTokens, set("pre", "viking"), `tokenizer.ggml.pre: got "viking", which is not known`},
		{pairTokens, set("pre", nil), `tokenizer.ggml.pre: got "", which is not known`},
		{pairTokens, set("tokens", []int32{1}), "setting tokenizer.ggml.tokens: got a []int32, want a []string"},
		{pairTokens, set("token_type", []int32{1}), "tokenizer.ggml.token_type: got 1, want one for each of the 8 tokens"},
		{pairTokens, set("merges", []string{"a c"}), "merges"},
		{pairTokens, set("tokens", []string{"a", "a", "", "", "", "", "", ""}), `token "a" comes twice, with ids 0 and 1`},
		{pairTokens, set("tokens", append(make([]string, 7), strings.Repeat("x", 2000))), "token 7: got"},
		{pieceTokens, set("scores", []float32{1}), "tokenizer.ggml.scores: got 1, want one for each of the 10 tokens"},
		{pieceTokens, set("bos_token_id", "x"), "setting tokenizer.ggml.bos_token_id: got a string, want a int"},
	} {
		path := ggufFile(t, c.settings, c.change)
		_, err := text.OpenTokenizer(path)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, path)
	}
	var long []string
	for i := range 300 {
		long = append(long, fmt.Sprintf("%1024d", i))
	}
	_, err := text.OpenTokenizer(ggufFile(t, pieceTokens, set("tokens", long), set("token_type", nil),
		set("scores", make([]float32, 300))))
	require.ErrorContains(t, err, "tokenizer.ggml.tokens: got a sum of 269484032 of their squared lengths, want at most 268435456")
}
