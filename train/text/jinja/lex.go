package jinja

import (
	"strconv"
	"strings"
	"unicode"
)

type tokenKind int

const (
	endToken tokenKind = iota
	textToken
	openToken       // {%
	closeToken      // %}
	openValueToken  // {{
	closeValueToken // }}
	nameToken
	numberToken
	stringToken
	operatorToken
)

type token struct {
	kind tokenKind
	text string // of a string, without quotes and escapes
	line int
}

// lexer cuts a template into tokens.
type lexer struct {
	rest   string
	line   *int
	tokens []token
}

func (l *lexer) add(kind tokenKind, text string) {
	l.tokens = append(l.tokens, token{kind, text, *l.line})
}

// take returns the next n bytes and goes on after them.
func (l *lexer) take(n int) string {
	text := l.rest[:n]
	*l.line += strings.Count(text, "\n")
	l.rest = l.rest[n:]
	return text
}

// lex returns the tokens of a template. It counts the lines.
func lex(source string, line *int) []token {
	l := &lexer{rest: strings.TrimSuffix(source, "\n"), line: line}
	atStart, trimBlock, trimSpace := true, false, false // what the end of the tag before does to the text
	for {
		n := openingTag(l.rest)
		if n < 0 {
			l.text(l.take(len(l.rest)), trimBlock, trimSpace)
			l.add(endToken, "the end")
			return l.tokens
		}
		text := l.take(n)
		block := l.rest[1] != '{'
		if begin := strings.LastIndexByte(text, '\n') + 1; block && (begin > 0 || atStart) &&
			strings.Trim(text[begin:], " \t") == "" {
			text = text[:begin]
		}
		open := l.take(2)
		if strings.HasPrefix(l.rest, "-") {
			l.take(1)
			text = strings.TrimRightFunc(text, isSpace)
		}
		l.text(text, trimBlock, trimSpace)
		trimBlock, atStart = block, false
		switch open {
		case "{#":
			trimSpace = l.comment()
		case "{%":
			trimSpace = l.tag(openToken, closeToken, "%}")
		default:
			trimSpace = l.tag(openValueToken, closeValueToken, "}}")
		}
	}
}

// openingTag returns the index of the next tag of a text, or −1.
func openingTag(text string) int {
	for from := 0; ; {
		n := strings.IndexByte(text[from:], '{')
		if n < 0 || from+n+1 >= len(text) {
			return -1
		}
		if from += n; strings.IndexByte("{%#", text[from+1]) >= 0 {
			return from
		}
		from++
	}
}

// text adds a text between tags, of which the end of the tag before takes a line's end or all white space.
func (l *lexer) text(text string, trimBlock, trimSpace bool) {
	if trimBlock {
		text = strings.TrimPrefix(text, "\n")
	}
	if trimSpace {
		text = strings.TrimLeftFunc(text, isSpace)
	}
	if text != "" {
		l.add(textToken, text)
	}
}

// comment skips a comment and reports whether it takes the white space after it.
func (l *lexer) comment() bool {
	n := strings.Index(l.rest, "#}")
	if n < 0 {
		fail("got a comment without an end, want #}")
	}
	return strings.HasSuffix(l.take(n+2), "-#}")
}

// tag adds the tokens of a tag and reports whether it takes the white space after it.
func (l *lexer) tag(open, end tokenKind, mark string) bool {
	l.add(open, "{"+mark[:1])
	for braces := 0; ; {
		l.take(len(l.rest) - len(strings.TrimLeftFunc(l.rest, isSpace)))
		switch {
		case l.rest == "":
			fail("got a tag without an end, want %s", mark)
		case strings.HasPrefix(l.rest, "-"+mark):
			l.add(end, l.take(3)[1:])
			return true
		case strings.HasPrefix(l.rest, mark) && braces == 0:
			l.add(end, l.take(2))
			return false
		}
		braces += l.next()
	}
}

// operators are those of several bytes before their beginnings.
var operators = []string{"<=", ">=", "==", "!=", "**", "//", "(", ")", "{", "}", "[", "]", ",", ".", ":", "|", "<", ">",
	"+", "-", "~", "*", "/", "%", "="}

// next adds a token of a tag and returns by how many it changes the open braces.
func (l *lexer) next() int {
	switch c := l.rest[0]; {
	case c == '\'' || c == '"':
		l.quoted(c)
		return 0
	case isDigit(rune(c)):
		l.number()
		return 0
	case isWord(rune(c)):
		l.add(nameToken, l.take(prefix(l.rest, isWord)))
		return 0
	}
	for _, o := range operators {
		if strings.HasPrefix(l.rest, o) {
			l.add(operatorToken, l.take(len(o)))
			return strings.Count(o, "{") - strings.Count(o, "}")
		}
	}
	fail("got %q, want an expression", []rune(l.rest)[0])
	return 0
}

// number adds a number. After a dot it is an index.
func (l *lexer) number() {
	n := prefix(l.rest, isDigit)
	index := l.tokens[len(l.tokens)-1].text == "."
	if !index && strings.HasPrefix(l.rest[n:], ".") {
		if fraction := prefix(l.rest[n+1:], isDigit); fraction > 0 {
			n += 1 + fraction
		}
	}
	l.add(numberToken, l.take(n))
}

// escapes are the characters that a letter after a backslash stands for.
var escapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", 'b': "\b", 'f': "\f", 'v': "\v", '\'': "'", '"': `"`,
	'\\': `\`}

// quoted adds a string in quotes.
func (l *lexer) quoted(quote byte) {
	var text strings.Builder
	for i := 1; i < len(l.rest); i++ {
		switch c := l.rest[i]; c {
		case quote:
			l.take(i + 1)
			l.add(stringToken, text.String())
			return
		case '\\':
			i++
			i += unescape(&text, l.rest[i:])
		default:
			text.WriteByte(c)
		}
	}
	fail("got a string without an end, want %c", quote)
}

// unescape writes the character of an escape after its backslash, and returns how many bytes it has beside its letter.
func unescape(to *strings.Builder, escape string) int {
	if escape == "" {
		return 0
	}
	if s, ok := escapes[escape[0]]; ok {
		to.WriteString(s)
		return 0
	}
	digits := map[byte]int{'x': 2, 'u': 4}[escape[0]]
	if digits > 0 && len(escape) > digits {
		if code, err := strconv.ParseUint(escape[1:1+digits], 16, 32); err == nil {
			to.WriteRune(rune(code))
			return digits
		}
	}
	fail(`got the escape \%.5s, want one of \n \t \r \b \f \v \' \" \\ \xNN \uNNNN`, escape)
	return 0
}

// prefix returns the length of the characters that begin a text and are of a kind.
func prefix(text string, of func(rune) bool) int {
	return len(text) - len(strings.TrimLeftFunc(text, of))
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func isWord(r rune) bool {
	return r == '_' || isDigit(r) || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// isSpace reports whether JavaScript's trim removes a character.
func isSpace(r rune) bool { return r != 0x85 && unicode.IsSpace(r) || r == 0xfeff }
