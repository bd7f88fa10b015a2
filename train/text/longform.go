package text

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// formOf returns a normal form of a text, even with many marks in a row.
func formOf(form norm.Form, text string) string {
	if manyMarks(text) {
		return longForm(form, text)
	}
	return form.String(text)
}

// manyMarks reports whether a text has so many consecutive marks that package norm may insert a joiner. Unicode's
// normal forms have no such joiner.
func manyMarks(text string) bool {
	const some = 8 // of up to three marks each; more than 30 are too many
	n := 0
	for at := 0; at < len(text); {
		if text[at] < utf8.RuneSelf {
			n = 0
			at++
			continue
		}
		p := norm.NFKD.PropertiesString(text[at:])
		if n++; p.BoundaryBefore() {
			n = 0
		}
		if n > some {
			return true
		}
		at += max(p.Size(), 1)
	}
	return false
}

// longForm returns a normal form of a text as Unicode defines it, for any number of marks in a row.
func longForm(form norm.Form, text string) string {
	decomposed := norm.NFD
	if form == norm.NFKC || form == norm.NFKD {
		decomposed = norm.NFKD
	}
	var runes []rune
	for _, r := range text {
		runes = append(runes, []rune(decomposed.String(string(r)))...)
	}
	class := func(r rune) int { return int(norm.NFD.PropertiesString(string(r)).CCC()) }
	for i := 0; i < len(runes); i++ {
		end := i
		for end < len(runes) && class(runes[end]) > 0 {
			end++
		}
		slices.SortStableFunc(runes[i:end], func(a, b rune) int { return class(a) - class(b) })
		i = end
	}
	if form == norm.NFC || form == norm.NFKC {
		runes = composed(runes, class)
	}
	var b strings.Builder
	for _, r := range runes {
		b.WriteRune(r)
	}
	return b.String()
}

// composed joins each character with marks that follow it, unless another mark of the same class is in between.
func composed(runes []rune, class func(rune) int) []rune {
	out, starter, last := runes[:0], -1, 0 // index of the last starter, and the class of the character after it
	for _, r := range runes {
		c := class(r)
		if starter >= 0 && (starter == len(out)-1 || last < c) {
			if both := norm.NFC.String(string(out[starter]) + string(r)); utf8.RuneCountInString(both) == 1 {
				out[starter], _ = utf8.DecodeRuneInString(both)
				continue
			}
		}
		if c == 0 {
			starter = len(out)
		}
		out, last = append(out, r), c
	}
	return out
}
