package plot

import (
	"cmp"
	"strings"
	"unicode"
)

// Labels returns labels of at most 12 characters for tokens, without the blank before a word. Characters that are
// invisible, or that the pictures' font lacks, have substitutes.
func Labels(tokens []string) []string {
	labels := make([]string, len(tokens))
	for i, token := range tokens {
		switch {
		case strings.HasPrefix(token, `\x`): // a part of a character
			labels[i] = substitute
			continue
		case len(token) > 1:
			token = strings.TrimPrefix(token, " ")
		}
		labels[i] = cmp.Or(strings.Map(visible, token), substitute)
		if letters := []rune(labels[i]); len(letters) > longestLabel {
			labels[i] = string(letters[:longestLabel-1]) + "…"
		}
	}
	return labels
}

const (
	substitute   = "¤"
	longestLabel = 12 // characters
)

// visible returns a character, or its substitute in pictures.
func visible(c rune) rune {
	switch {
	case c == '\n':
		return '¶'
	case c == ' ':
		return '·'
	case !HasGlyph(c) || !unicode.IsGraphic(c) || unicode.IsSpace(c):
		return '¤'
	}
	return c
}
