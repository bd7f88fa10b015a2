package text

import (
	"unicode/utf8"
)

// lastLength returns the length of the last character of a text, 0 if there is none.
func lastLength(text string) int {
	_, n := utf8.DecodeLastRuneInString(text)
	return n
}

// capital and small report whether a character can be in the first or the second part of a word of GPT-4o: \p{Lm},
// \p{Lo} and marks can be in both.
func capital(k kind) bool { return k&mark != 0 || k&letter != 0 && k&lower == 0 }
func small(k kind) bool   { return k&mark != 0 || k&letter != 0 && k&upper == 0 }

// runOf returns the length of the characters at the beginning of a text that can be in one part of a word.
func runOf(text string, part func(kind) bool) int {
	all := kinds()
	for at := 0; ; {
		k, n := kindsOf(all, text[at:])
		if n == 0 || !part(k) {
			return at
		}
		at += n
	}
}

// afterSignOr matches a word, with or without a preceding character that is neither a letter, nor a number, nor an end
// of line.
func afterSignOr(text string, word func(string) int) int {
	k, n := kindsOf(kinds(), text)
	if k&(newline|letter|number) == 0 {
		if after := word(text[n:]); after > 0 {
			return n + after
		}
	}
	return word(text)
}

// lowerWord matches zero or more capitals, followed by at least one small letter.
func lowerWord(text string) int {
	return afterSignOr(text, func(text string) int {
		n := runOf(text, capital)
		if after := runOf(text[n:], small); after > 0 {
			return n + after
		}
		for n > 0 { // the last character that is both counts as the small letter
			last := lastLength(text[:n])
			if k, _ := kindsOf(kinds(), text[n-last:]); small(k) {
				return n
			}
			n -= last
		}
		return 0
	})
}

// upperWord matches at least one capital, followed by zero or more small letters.
func upperWord(text string) int {
	return afterSignOr(text, func(text string) int {
		n := runOf(text, capital)
		if n == 0 {
			return 0
		}
		return n + runOf(text[n:], small)
	})
}
