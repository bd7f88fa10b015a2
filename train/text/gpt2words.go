package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// contractions are words of their own after a letter or anything else.
var contractions = []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}

// gpt2Word returns the length of the first word of a text that is not empty, in bytes. No token is a part of two words.
// They are what GPT-2's pattern matches:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func gpt2Word(text string) int {
	for _, c := range contractions {
		if strings.HasPrefix(text, c) {
			return len(c)
		}
	}
	blank := 0
	if text[0] == ' ' {
		blank = 1
	}
	if kind := kindOf(text[blank:]); kind == letter || kind == number || kind == mark {
		return blank + run(text[blank:], kind)
	}
	n := run(text, space)
	_, last := utf8.DecodeLastRuneInString(text[:n])
	if n == len(text) || n == last { // what follows begins without a blank
		return n
	}
	return n - last
}

// The kinds of characters.
const (
	none = iota // the end of a text
	letter
	number
	space
	mark // any other
)

// kindOf returns the kind of the first character of a text.
func kindOf(text string) int {
	if text == "" {
		return none
	}
	r, _ := utf8.DecodeRuneInString(text)
	switch {
	case unicode.IsLetter(r):
		return letter
	case unicode.IsNumber(r):
		return number
	case unicode.IsSpace(r):
		return space
	}
	return mark
}

// run returns the length of the characters of a kind that begin a text, in bytes.
func run(text string, kind int) int {
	n := 0
	for kindOf(text[n:]) == kind {
		_, size := utf8.DecodeRuneInString(text[n:])
		n += size
	}
	return n
}
