package text_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"attention/internal/golden"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// The list of all tokens in the form of tiktoken's file r50k_base.tiktoken has the checksum that tiktoken expects of
// that file.
func TestGPT2Vocabulary(t *testing.T) {
	g := text.NewGPT2Tokenizer()
	require.Equal(t, 50257, g.Len())
	list := sha256.New()
	for id := range text.GPT2EndOfText {
		token, err := g.Decode([]int{id})
		require.NoError(t, err)
		fmt.Fprintf(list, "%s %d\n", base64.StdEncoding.EncodeToString([]byte(token)), id)
	}
	require.Equal(t, "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
		hex.EncodeToString(list.Sum(nil)))
	end, err := g.Decode([]int{text.GPT2EndOfText})
	require.NoError(t, err)
	require.Equal(t, "<|endoftext|>", end)
}

func TestGPT2EncodesAsTiktoken(t *testing.T) {
	path, err := golden.Path("tiktoken", "gpt2.json")
	require.NoError(t, err)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var rows []struct {
		Text string `json:"text"`
		IDs  []int  `json:"ids"`
	}
	require.NoError(t, json.Unmarshal(data, &rows))
	require.Greater(t, len(rows), 90)
	g := text.NewGPT2Tokenizer()
	for _, row := range rows {
		ids, err := g.Encode(row.Text)
		require.NoError(t, err)
		require.Equal(t, row.IDs, ids, "%q", row.Text)
		back, err := g.Decode(ids)
		require.NoError(t, err)
		require.Equal(t, row.Text, back)
	}
}

// Ids below 256 are the bytes, each once.
func TestGPT2Bytes(t *testing.T) {
	g := text.NewGPT2Tokenizer()
	seen := map[string]bool{}
	for id := range 256 {
		b, err := g.Decode([]int{id})
		require.NoError(t, err)
		require.Len(t, b, 1)
		seen[b] = true
		if b[0] < utf8.RuneSelf {
			ids, err := g.Encode(b)
			require.NoError(t, err)
			require.Equal(t, []int{id}, ids)
		}
	}
	require.Len(t, seen, 256)
}

// Each character survives encoding and decoding alone, in a word, and behind and before spaces.
func TestGPT2Characters(t *testing.T) {
	g := text.NewGPT2Tokenizer()
	var s strings.Builder
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if r > 0x3000 { // from here on blocks of one kind are long
			r += 97
		}
		if utf8.ValidRune(r) {
			fmt.Fprintf(&s, "%c a%[1]cb  %[1]c1%[1]c%[1]c\n", r)
		}
	}
	ids, err := g.Encode(s.String())
	require.NoError(t, err)
	back, err := g.Decode(ids)
	require.NoError(t, err)
	require.True(t, s.String() == back)
}

func TestGPT2Errors(t *testing.T) {
	g := text.NewGPT2Tokenizer()
	_, err := g.Encode("ab\xffc")
	require.EqualError(t, err, "text: got byte 0xff at offset 2, want UTF-8")
	_, err = g.Encode("\ufffd\xc3")
	require.EqualError(t, err, "text: got byte 0xc3 at offset 3, want UTF-8")
	_, err = g.Decode([]int{0, 50257})
	require.EqualError(t, err, "text: ids: got 50257 at position 1, want 0 to 50256")
	_, err = g.Decode([]int{-1})
	require.EqualError(t, err, "text: ids: got -1 at position 0, want 0 to 50256")
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
