package term

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns text with uniform line ends that cannot control a terminal. Like Go's strings it escapes control
// characters except newline and tab, line separators, marks that change the direction of writing, and bytes that are
// not UTF-8.
func Printable(text string) string {
	var b strings.Builder
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case acts(r):
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		default:
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return b.String()
}

// acts reports whether a terminal interprets the character instead of showing it.
func acts(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) ||
		r == '\u2028' || r == '\u2029'
}

const (
	maxWord = 256  // bytes of a name or number in a line: no file's name is longer
	maxLine = 4096 // bytes of a line
)

// OneLine returns the text of an error on one line, as Line does.
func OneLine(err error) string { return Line(err.Error()) }

// Line returns text as one printable line of moderate length: long words, long quoted names and then the line itself
// lose their middle.
func Line(text string) string {
	text = cut(text, 16*maxLine) // shortened roughly first, because the next steps look at each character
	text = Printable(strings.Join(strings.Fields(text), " "))
	text = word.ReplaceAllStringFunc(text, func(w string) string { return cut(w, maxWord) })
	return cut(text, maxLine)
}

// word matches a quoted text, which ends at the latest with the line, or a text without spaces.
var word = regexp.MustCompile(`"(?:\\.|[^"\\])*[\\"]?|[^ "]+`)

// cut returns s, without its middle if s has more than most bytes. It cuts between characters if s is UTF-8.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	half := (most - len("…")) / 2
	head, tail := half, len(s)-half
	for range utf8.UTFMax - 1 {
		if !utf8.RuneStart(s[head]) {
			head--
		}
		if !utf8.RuneStart(s[tail]) {
			tail++
		}
	}
	return s[:head] + "…" + s[tail:]
}
