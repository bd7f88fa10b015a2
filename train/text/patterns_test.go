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
