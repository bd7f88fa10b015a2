package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// Python changes the case of letters by Unicode's full mappings: ß becomes SS, and a final Σ becomes ς.

func upper(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return cases.Upper(language.Und).String(s)
}

func lower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Lower(language.Und).String(s)
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool { return c >= utf8.RuneSelf }) < 0
}

// capitalized returns a text with its first letter in upper case and the others in lower case.
func capitalized(s string) string {
	n := runeLen(s)
	return cases.Title(language.Und, cases.NoLower).String(s[:n]) + strings.TrimPrefix(lower("a"+s[n:]), "a")
}

// titled returns a text in which each first letter of a run of letters is in upper case, and the others in lower case.
func titled(s string) string {
	var b strings.Builder
	for s != "" {
		n := strings.IndexFunc(s, isCased)
		if n < 0 {
			break
		}
		end := n + prefix(s[n:], isCased)
		b.WriteString(s[:n])
		b.WriteString(capitalized(s[n:end]))
		s = s[end:]
	}
	return b.String() + s
}

// isCased reports whether a letter is in upper, lower or title case.
func isCased(c rune) bool {
	return unicode.IsUpper(c) || unicode.IsLower(c) || unicode.IsTitle(c)
}

// titleOfWords is the filter title: each word begins with an upper-case letter. Words begin after white space and
// brackets.
func titleOfWords(r *run, x any, _ given) any {
	s := r.str(x)
	r.spend(8 * len(s))
	var b strings.Builder
	isBreak := func(c rune) bool { return strings.ContainsRune("-({[<", c) || isSpace(c) }
	for s != "" {
		n := prefix(s, isBreak)
		b.WriteString(s[:n])
		s = s[n:]
		end := prefix(s, func(c rune) bool { return !isBreak(c) })
		if first := runeLen(s); end > 0 {
			b.WriteString(upper(s[:first]))
			b.WriteString(lower(s[first:end]))
		}
		s = s[end:]
	}
	return b.String()
}

// isLower reports whether a text has lower-case letters and no upper-case ones.
func isLower(s string) bool {
	return strings.IndexFunc(s, unicode.IsLower) >= 0 && strings.IndexFunc(s, func(c rune) bool {
		return unicode.IsUpper(c) || unicode.IsTitle(c)
	}) < 0
}

// isUpper reports whether a text has upper-case letters and no lower-case ones.
func isUpper(s string) bool {
	return strings.IndexFunc(s, unicode.IsUpper) >= 0 && strings.IndexFunc(s, func(c rune) bool {
		return unicode.IsLower(c) || unicode.IsTitle(c)
	}) < 0
}
