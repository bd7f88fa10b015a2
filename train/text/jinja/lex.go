package jinja

import (
	"regexp"
	"slices"
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
	integerToken
	floatToken
	stringToken
	operatorToken
)

type token struct {
	kind tokenKind
	text string // for a string, without quotes and escapes
	line int
}

// lexer splits a template into tokens.
type lexer struct {
	rest   string
	line   *int
	starts bool // whether the remaining text begins a line
	tokens []token
}

func (l *lexer) add(kind tokenKind, text string) {
	l.tokens = append(l.tokens, token{kind, text, *l.line})
}

// advance consumes the next n bytes and returns them.
func (l *lexer) advance(n int) string {
	text := l.rest[:n]
	*l.line += strings.Count(text, "\n")
	l.rest, l.starts = l.rest[n:], strings.HasSuffix(text, "\n")
	return text
}

// skipSpace skips white space.
func (l *lexer) skipSpace() { l.advance(prefix(l.rest, isSpace)) }

// lineEnds are the ends of lines other than \n.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

var (
	raw    = regexp.MustCompile(`^\{%[-+]?\s*raw\s*-?%\}`)
	endRaw = regexp.MustCompile(`\{%[-+]?\s*endraw\s*[-+]?%\}`)
)

// lex returns the tokens of a template. It counts the lines.
func lex(source string, line *int) []token {
	l := &lexer{rest: strings.TrimSuffix(lineEnds.Replace(source), "\n"), line: line, starts: true}
	for {
		n := openingTag(l.rest)
		if n < 0 {
			l.addText(len(l.rest), "", "")
			l.add(endToken, "the end")
			return l.tokens
		}
		open, sign := l.rest[n:n+2], l.rest[n+2:min(n+3, len(l.rest))]
		if begin := raw.FindString(l.rest[n:]); begin != "" {
			l.addText(n, open, sign)
			l.raw(begin)
			continue
		}
		l.addText(n, open, sign)
		l.advance(2)
		if sign == "-" || sign == "+" {
			l.advance(1)
		}
		switch open {
		case "{#":
			l.comment()
		case "{%":
			l.tag(openToken, closeToken, "%}")
		default:
			l.tag(openValueToken, closeValueToken, "}}")
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

// addText adds the next n bytes, a text before a tag. A minus sign in the tag removes the white space before the tag;
// before a block or a comment, white space at the beginning of the line is removed (lstrip_blocks).
func (l *lexer) addText(n int, tag, sign string) {
	starts := l.starts
	text := l.advance(n)
	switch begin := strings.LastIndexByte(text, '\n') + 1; {
	case sign == "-" && tag != "":
		text = strings.TrimRightFunc(text, isSpace)
	case sign != "+" && tag != "{{" && tag != "" && (begin > 0 || starts) && strings.TrimFunc(text[begin:], isSpace) == "":
		text = text[:begin]
	}
	if text != "" {
		l.add(textToken, text)
	}
}

// raw adds the text of a raw block.
func (l *lexer) raw(begin string) {
	l.advance(len(begin))
	if strings.HasSuffix(begin, "-%}") {
		l.skipSpace()
	}
	end := endRaw.FindStringIndex(l.rest)
	if end == nil {
		fail("got a raw block without an end, want {%% endraw %%}")
	}
	l.addText(end[0], "{%", l.rest[end[0]+2:end[0]+3])
	l.takeEnd(end[1] - end[0])
}

// takeEnd skips the n bytes that end a block or a comment, and the text that they remove: all white space after a minus
// sign, and without a plus sign the end of the line (trim_blocks).
func (l *lexer) takeEnd(n int) {
	switch end := l.advance(n); {
	case end[max(n-3, 0)] == '-':
		l.skipSpace()
	case end[max(n-3, 0)] != '+' && strings.HasPrefix(l.rest, "\n"):
		l.advance(1)
	}
}

// comment skips a comment.
func (l *lexer) comment() {
	n := strings.Index(l.rest, "#}")
	if n < 0 {
		fail("got a comment without an end, want #}")
	}
	l.takeEnd(n + 2)
}

// tag adds the tokens of a tag.
func (l *lexer) tag(open, end tokenKind, mark string) {
	l.add(open, "{"+mark[:1])
	var closing []byte // the closing brackets that are expected
	for {
		l.skipSpace()
		sign := 0
		if strings.HasPrefix(l.rest, "-"+mark) || end == closeToken && strings.HasPrefix(l.rest, "+"+mark) {
			sign = 1
		}
		switch {
		case l.rest == "":
			fail("got a tag without an end, want %s", mark)
		case len(closing) > 0 || !strings.HasPrefix(l.rest[sign:], mark):
			closing = l.next(closing)
			continue
		}
		l.add(end, mark)
		if end == closeToken {
			l.takeEnd(sign + 2)
		} else if l.advance(sign + 2); sign > 0 {
			l.skipSpace()
		}
		return
	}
}

// operators are the operators; longer ones come before their prefixes.
var operators = []string{"<=", ">=", "==", "!=", "**", "//", "(", ")", "{", "}", "[", "]", ",", ".", ":", "|", "<", ">",
	"+", "-", "~", "*", "/", "%", "="}

// next adds a token of a tag and returns the closing brackets that are still expected.
func (l *lexer) next(closing []byte) []byte {
	if number, kind := l.number(); number != "" {
		l.add(kind, strings.ReplaceAll(l.advance(len(number)), "_", ""))
		return closing
	}
	if n := prefix(l.rest, isWord); n > 0 {
		l.add(nameToken, l.advance(n))
		return closing
	}
	if c := l.rest[0]; c == '\'' || c == '"' {
		l.quoted(c)
		return closing
	}
	i := slices.IndexFunc(operators, func(o string) bool { return strings.HasPrefix(l.rest, o) })
	if i < 0 {
		fail("got %q, want an expression", []rune(l.rest)[0])
	}
	l.add(operatorToken, l.advance(len(operators[i])))
	switch c := operators[i][0]; c {
	case '(':
		return append(closing, ')')
	case '[', '{':
		return append(closing, c+2)
	case ')', ']', '}':
		if len(closing) == 0 || closing[len(closing)-1] != c {
			fail("got %q without its beginning", string(c))
		}
		return closing[:len(closing)-1]
	}
	return closing
}

var (
	float   = regexp.MustCompile(`^(\d+_)*\d+((\.(\d+_)*\d+)?[eE][+-]?(\d+_)*\d+|\.(\d+_)*\d+)`)
	integer = regexp.MustCompile(`^(0[bB](_?[01])+|0[oO](_?[0-7])+|0[xX](_?[\da-fA-F])+|[1-9](_?\d)*|0(_?0)*)`)
)

// number returns the number at the current position, or "". After a dot the number is an index.
func (l *lexer) number() (string, tokenKind) {
	if c := l.rest[0]; c < '0' || c > '9' {
		return "", 0
	}
	last := l.tokens[len(l.tokens)-1]
	if x := float.FindString(l.rest); x != "" && !(last.kind == operatorToken && last.text == ".") {
		return x, floatToken
	}
	return integer.FindString(l.rest), integerToken
}

// prefix returns the length of the characters of a kind at the beginning of a text.
func prefix(text string, of func(rune) bool) int {
	return len(text) - len(strings.TrimLeftFunc(text, of))
}

func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r)
}

// isSpace reports whether Python's strip removes a character.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }
