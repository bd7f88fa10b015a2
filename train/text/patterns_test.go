package text

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// contractions and tail are parts of the patterns of GPT-4 and later tokenizers.
const (
	contractions = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`
	tail         = `|\s*[\r\n]+|\s+(?!\S)|\s+`
	capitals     = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
	smalls       = `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
)

// knownPatterns lists the patterns of published tokenizers for which there is a scanner.
var knownPatterns = map[string]string{
	"GPT-2":    gpt2Pattern,
	"GPT-4":    `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*` + tail,
	"Llama 3":  contractions + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*` + tail,
	"Qwen 2":   contractions + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*` + tail,
	"Qwen 3.5": contractions + `|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*` + tail,
	"GPT-4o": `[^\r\n\p{L}\p{N}]?` + capitals + `*` + smalls + `+` + contractions +
		`?|[^\r\n\p{L}\p{N}]?` + capitals + `+` + smalls + `*` + contractions +
		`?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*` + tail,
	"Tekken": `[^\r\n\p{L}\p{N}]?` + capitals + `*` + smalls + `+|[^\r\n\p{L}\p{N}]?` + capitals + `+` + smalls +
		`*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*` + tail,
}

// TestKnownPatterns: the scanners split texts where the regular expressions do.
func TestKnownPatterns(t *testing.T) {
	texts := Nasty(1500, []string{"日A", "A日", "aB", "AbC'll", "ABC's", "A\u0301B", "\u0301A", "\u0301\u0301", " \u0301a",
		"ʰA", "aʰ", "ǅa"})
	for name, pattern := range knownPatterns {
		t.Run(name, func(t *testing.T) {
			// The package for regular expressions does not treat ſ as a small s, unlike the one in Rust.
			at, err := expressionMatches(strings.NewReplacer("(?i:'s|", "(?i:'s|'ſ|", "[sd", "[sſd").Replace(pattern))
			require.NoError(t, err)
			for _, s := range texts {
				if s == "" {
					continue
				}
				var want []string
				require.NoError(t, cutAt(part{text: s}, isolated, false, at, func(p part) error {
					want = append(want, p.text)
					return nil
				}))
				require.Equal(t, want, wordsOf(t, pattern, s), "%q", s)
			}
		})
	}
}

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
