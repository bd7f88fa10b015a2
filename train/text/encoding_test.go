package text_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"attention/internal/golden"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// pairsRow is a row of a table of testdata/torch/tokenizer_pairs.py.
type pairsRow struct {
	Tokenizer int                     `json:"tokenizer"`
	Texts     []string                `json:"texts"`
	MaxLength int                     `json:"max_length"`
	Strategy  text.TruncationStrategy `json:"strategy"`
	Answer    [][]int                 `json:"answer"`
}

// wordPieces returns the tokenizers of testdata/tokenizers/wordpiece.json.
func wordPieces(t testing.TB) (all []*text.SubwordTokenizer) {
	data, err := os.ReadFile("testdata/tokenizers/wordpiece.json")
	require.NoError(t, err)
	var files []struct{ Tokenizer json.RawMessage }
	require.NoError(t, json.Unmarshal(data, &files))
	for _, f := range files {
		tokenizer, err := text.ReadTokenizer(f.Tokenizer)
		require.NoError(t, err)
		all = append(all, tokenizer)
	}
	return all
}

// check compares the encoding of a row with the engine's.
func (r pairsRow) check(t *testing.T, tokenizer *text.SubwordTokenizer) {
	t.Helper()
	e, err := tokenizer.EncodeTexts(text.TruncationConfig{MaxLength: r.MaxLength, Strategy: r.Strategy}, r.Texts...)
	if len(r.Answer) == 0 {
		require.Error(t, err, "%+v", r)
		require.NotContains(t, err.Error(), "\n")
		return
	}
	require.NoError(t, err, "%+v", r)
	var runes []int
	for i, at := range e.Runes {
		runes = append(runes, at[0], at[1])
		of := ""
		if e.Texts[i] >= 0 {
			of = r.Texts[e.Texts[i]]
		}
		bytes := e.Bytes[i]
		require.Equal(t, at, [2]int{utf8.RuneCountInString(of[:bytes[0]]), utf8.RuneCountInString(of[:bytes[1]])})
	}
	require.Equal(t, r.Answer, [][]int{e.IDs, e.Types, e.Texts, runes}, "%+q %+v", r.Texts, r)
}

// Texts and pairs have the ids, types and places of the Rust engine. tokenizer_pairs.py made the answers.
func TestEncodings(t *testing.T) {
	data, err := os.ReadFile("testdata/pairs.json")
	require.NoError(t, err)
	var rows []pairsRow
	require.NoError(t, json.Unmarshal(data, &rows))
	tokenizers := wordPieces(t)
	for _, r := range rows {
		r.check(t, tokenizers[r.Tokenizer])
	}
	require.Greater(t, len(rows), 90)
}

// nastyRows returns rows with n difficult texts in all.
func nastyRows(n, tokenizers int) (rows []pairsRow) {
	texts := text.Nasty(n, []string{"[MASK]", "[CLS]", "[SEP]", "[UNK]", "[mask]", "hello", "words of"})
	random := rand.New(rand.NewPCG(3, 11))
	strategies := []text.TruncationStrategy{text.LongestFirst, text.OnlyFirst, text.OnlySecond}
	for len(texts) > 1 {
		count := 1 + random.IntN(2)
		row := pairsRow{Tokenizer: random.IntN(tokenizers), Texts: texts[:count], Strategy: strategies[random.IntN(3)]}
		if random.IntN(2) == 0 {
			row.MaxLength = 3 + random.IntN(20)
		}
		rows, texts = append(rows, row), texts[count:]
	}
	return rows
}

// TestEncodingsOfManyTexts compares 100,000 difficult texts with the Rust engine: with small tokenizers of all options
// and with that of all-MiniLM-L6-v2, where it is.
func TestEncodingsOfManyTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	ask := func(file string, tokenizers []*text.SubwordTokenizer) {
		rows := nastyRows(50_000, len(tokenizers))
		table := filepath.Join(t.TempDir(), "table.json")
		data, err := json.Marshal(rows)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(table, data, 0o644))
		golden.Python(t, "tokenizer_pairs.py", file, table)
		data, err = os.ReadFile(table)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &rows))
		for _, r := range rows {
			r.check(t, tokenizers[r.Tokenizer])
		}
	}
	file, err := filepath.Abs("testdata/tokenizers/wordpiece.json")
	require.NoError(t, err)
	ask(file, wordPieces(t))
	data, err := os.ReadFile(filepath.Join(golden.Published(t, "minilm"), text.TokenizerFile))
	require.NoError(t, err)
	tokenizer, err := text.ReadTokenizer(data)
	require.NoError(t, err)
	file = filepath.Join(t.TempDir(), "minilm.json")
	require.NoError(t, os.WriteFile(file, []byte(`[{"tokenizer": `+string(data)+"}]"), 0o644))
	ask(file, []*text.SubwordTokenizer{tokenizer})
}

// What has no encoding is refused in one line.
func TestEncodingErrors(t *testing.T) {
	words := wordPieces(t)[0]
	long := strings.Repeat("the ", 9)
	for _, row := range []struct {
		tokenizer *text.SubwordTokenizer
		c         text.TruncationConfig
		texts     []string
		want      string
	}{
		{words, text.TruncationConfig{}, nil, "got 0 texts, want one or two"},
		{words, text.TruncationConfig{}, []string{"a", "b", "c"}, "got 3 texts, want one or two"},
		{words, text.TruncationConfig{}, []string{"a", "\xff"}, "got byte 0xff at offset 0"},
		{words, text.TruncationConfig{MaxLength: 2}, []string{"a", "b"},
			"MaxLength: got 2, want at least the 3 tokens of the template"},
		{words, text.TruncationConfig{MaxLength: -1}, []string{"a"}, "MaxLength: got -1, want at least 0"},
		{words, text.TruncationConfig{MaxLength: 9, Strategy: "first"}, []string{"a"}, `Strategy: got "first", want one of`},
		{words, text.TruncationConfig{MaxLength: 5, Strategy: text.OnlySecond}, []string{long},
			"Strategy: got only_second for one text, want two texts"},
		{words, text.TruncationConfig{MaxLength: 5, Strategy: text.OnlySecond}, []string{long, "the"},
			"Strategy: got only_second, which leaves nothing of a text of 1 tokens, want a longer one"},
		{text.NewGPT2Tokenizer(), text.TruncationConfig{}, []string{"a"},
			"got a tokenizer of another model or normalizer, want WordPiece and BertNormalizer"},
	} {
		_, err := row.tokenizer.EncodeTexts(row.c, row.texts...)
		require.ErrorContains(t, err, "text: encoding: ")
		require.ErrorContains(t, err, row.want)
		require.NotContains(t, err.Error(), "\n")
	}
}
