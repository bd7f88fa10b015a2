package tokenize

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"attention/cmd/attention/internal/commandtest"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

func tokenize(args ...string) (string, error) {
	return commandtest.Output(context.Background(), New(), args...)
}

// write writes a text to learn from into a new folder, which is then the current one.
func write(t *testing.T) (content string) {
	t.Chdir(t.TempDir())
	content = strings.Repeat("the cat sat on the mat,\nthe dog sat on the log\n\n", 20)
	require.NoError(t, os.WriteFile("text", []byte(content), 0o644))
	return content
}

func TestShow(t *testing.T) {
	printed, err := tokenize("--text", "Hello world, é 日\n<|endoftext|>")
	require.NoError(t, err)
	require.Equal(t, `tokenizer  gpt2, 50257 tokens
text       33 bytes, 9 tokens, 3.67 bytes a token

15496 "Hello"            995 " world"            11 ","
38251 " é"             10545 " \xe6"            245 "\x97"
   98 "\xa5"             198 "\n"             50256 "<|endoftext|>"
`, printed)
	for line := range strings.Lines(printed) {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 81)
	}
}

// TestLearn: a tokenizer is learned, written, read and shown.
func TestLearn(t *testing.T) {
	content := write(t)
	printed, err := tokenize("--train", "--text-file", "text", "--vocab", "270", "--out", "learned.json")
	require.NoError(t, err)
	require.Regexp(t, `^In learned.json: 270 tokens\ntext  960 bytes, \d+ tokens, \d\.\d\d bytes a token\n$`, printed)
	want, err := text.LearnBytePairs(content, 270)
	require.NoError(t, err)
	got, err := os.ReadFile("learned.json")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))

	printed, err = tokenize("--tokenizer", "learned.json", "--text", "the cat")
	require.NoError(t, err)
	require.Contains(t, printed, "tokenizer  learned.json, 270 tokens\n")
	require.Contains(t, printed, `"cat"`)
	require.NoError(t, os.Mkdir("model", 0o755))
	require.NoError(t, os.Rename("learned.json", "model/tokenizer.json"))
	again, err := tokenize("--tokenizer", "model", "--text", "the cat")
	require.NoError(t, err)
	require.Equal(t, strings.ReplaceAll(printed, "learned.json", "model"), again)
}

// TestJSON: there is an array for each line.
func TestJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	lines := []string{"Hello world", "", " 日本 ", "a\tb"}
	require.NoError(t, os.WriteFile("text", []byte(strings.Join(lines, "\r\n")), 0o644))
	printed, err := tokenize("--text-file", "text", "--json")
	require.NoError(t, err)
	printedLines := bytes.Split(bytes.TrimSuffix([]byte(printed), []byte("\n")), []byte("\n"))
	require.Len(t, printedLines, len(lines))
	for i, line := range printedLines {
		var ids []int
		require.NoError(t, json.Unmarshal(line, &ids))
		text, err := text.NewGPT2Tokenizer().Decode(ids)
		require.NoError(t, err)
		require.Equal(t, lines[i], text)
	}
	require.Equal(t, "[]", string(printedLines[1]))
}

func TestTokenizeErrors(t *testing.T) {
	write(t)
	require.NoError(t, os.WriteFile("latin1", []byte("caf\xe9"), 0o644))
	require.NoError(t, os.WriteFile("empty", nil, 0o644))
	for _, row := range []struct {
		name, args, want string
	}{
		{"nothing", "", "--text-file: missing, want the file of a text"},
		{"two texts", "--text a --text-file text", "--text-file: got a file besides --text, want one of them"},
		{"no UTF-8", "--text-file latin1", "--text-file: latin1: got byte 0xe9 at offset 3, want UTF-8"},
		{"an empty file", "--text-file empty", "--text-file: empty: got an empty file, want a text"},
		{"no file", "--text-file none", "--text-file: none: no such file or directory"},
		{"no tokenizer", "--tokenizer none --text a", "--tokenizer: stat none: no such file or directory"},
		{"what is for learning", "--text a --vocab 300", "--vocab: got it, want it beside --train only"},
		{"what is for showing", "--train --text-file text --json", "--json: got it, want it without --train only"},
		{"no size", "--train --text-file text --out x", "--vocab: missing, want the number of tokens, such as 8192"},
		{"nowhere", "--train --text-file text --vocab 300", "--out: missing, want a file such as tokenizer.json"},
		{"few tokens", "--train --text-file text --vocab 256 --out x",
			"--vocab: text: learn: got 256 tokens, want at least 257: all bytes and <|endoftext|>"},
		{"many tokens", "--train --text-file text --vocab 9999 --out x",
			"--vocab: text: learn: got 9999 tokens, want at most 274: in the rest of the text no pair comes twice"},
		{"no folder", "--train --text-file text --vocab 260 --out none/x", "--out: open none: no such file or directory"},
		{"an argument", "--text a b", `unknown command "b" for "attention tokenize"`},
	} {
		_, err := tokenize(strings.Fields(row.args)...)
		require.EqualError(t, err, row.want, row.name)
	}
	_, err := os.Stat("x")
	require.ErrorIs(t, err, os.ErrNotExist)
	full := commandtest.Full{}
	require.ErrorContains(t, commandtest.Run(context.Background(), full, full, New(), "--text", "a"), "no space left")
}
