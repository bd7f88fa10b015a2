package text

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGPT2Words: a text is split where GPT-2's pattern splits it.
func TestGPT2Words(t *testing.T) {
	for _, row := range []struct {
		reason, text string
		want         []string
	}{
		{reason: "a blank belongs to the word after it", text: "It is", want: []string{"It", " is"}},
		{reason: "only the last one", text: "a   b", want: []string{"a", "  ", " b"}},
		{reason: "no other white space", text: "a\t\tb\nc", want: []string{"a", "\t", "\t", "b", "\n", "c"}},
		{reason: "white space at the end is one word", text: "a \n ", want: []string{"a", " \n "}},
		{reason: "contractions", text: "I'll don't 's 're'd",
			want: []string{"I", "'ll", " don", "'t", " '", "s", " '", "re", "'d"}},
		{reason: "none in capitals", text: "I'LL", want: []string{"I", "'", "LL"}},
		{reason: "letters, numbers and marks apart", text: " x12²!? é日", want: []string{" x", "12²", "!?", " é日"}},
		{reason: "an apostrophe among marks", text: "!'s", want: []string{"!'", "s"}},
		{reason: "a wide blank", text: "a\u00a0\u3000b", want: []string{"a", "\u00a0", "\u3000", "b"}},
		{reason: "control characters are marks", text: "\x00\x7f \x1c", want: []string{"\x00\x7f", " \x1c"}},
	} {
		require.Equal(t, row.want, wordsOf(t, gpt2Pattern, row.text), row.reason)
	}
}

// wordsOf returns the words into which a known pattern splits a text.
func wordsOf(t *testing.T, pattern, text string) (all []string) {
	known, ok := words(pattern)
	require.True(t, ok, pattern)
	require.NoError(t, wordCutter{alternatives: known}.cut(part{text: text}, func(p part) error {
		all = append(all, p.text)
		return nil
	}))
	return all
}
