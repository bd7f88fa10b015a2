package jinja

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// escapes maps the letter after a backslash to the character that it means.
var escapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v", '\'': "'",
	'"': `"`, '\\': `\`, '\n': ""}

// quoted adds the token of a string in quotes.
func (l *lexer) quoted(quote byte) {
	var text strings.Builder
	for i := 1; i < len(l.rest); i++ {
		switch c := l.rest[i]; c {
		case quote:
			l.advance(i + 1)
			l.add(stringToken, text.String())
			return
		case '\\':
			i += unescape(&text, l.rest[i+1:])
		default:
			text.WriteByte(c)
		}
	}
	fail("got a string without an end, want %c", quote)
}

// unescape writes the character of an escape after its backslash, and returns how many bytes the escape has. As in
// Python, an unknown escape stays as it is written.
func unescape(to *strings.Builder, escape string) int {
	if escape == "" {
		return 0
	}
	if s, ok := escapes[escape[0]]; ok {
		to.WriteString(s)
		return 1
	}
	if n := min(3, prefix(escape, func(r rune) bool { return '0' <= r && r <= '7' })); n > 0 {
		code, _ := strconv.ParseUint(escape[:n], 8, 32)
		to.WriteRune(rune(code))
		return n
	}
	if digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[escape[0]]; digits > 0 {
		code, err := strconv.ParseUint(escape[1:min(1+digits, len(escape))], 16, 32)
		if err != nil || len(escape) <= digits || code > utf8.MaxRune {
			fail(`got the escape \%.9s, want %d hexadecimal digits of a character`, escape, digits)
		}
		to.WriteRune(rune(code))
		return 1 + digits
	}
	to.WriteByte('\\')
	return 0
}
