package text

import (
	"strings"
	"unicode/utf8"
)

// pieceDecoder converts the tokens of a text to bytes, one token at a time.
type pieceDecoder struct {
	each    []func(token string, first bool) string
	between string // goes between tokens
	trim    string // a character that is removed at the ends of the text
	left    int    // how many are removed at its beginning
	right   int    // and how many at its end
}

// decoding is the state of a pieceDecoder within a text.
type decoding struct {
	begun bool
	left  int // how many characters at the beginning may still be removed
	held  int // characters that are removed if the text ends now
}

// begin returns the state before the first token.
func (d *pieceDecoder) begin() decoding { return decoding{left: d.left} }

// text returns the bytes that the next token adds. Rules that would make a token much longer are not applied.
func (d *pieceDecoder) text(s *decoding, token string) string {
	limit := lengthLimit(token)
	for _, change := range d.each {
		if changed := change(token, !s.begun); len(changed) <= limit {
			token = changed
		}
	}
	if s.begun {
		token = d.between + token
	}
	s.begun = true
	for ; s.left > 0 && strings.HasPrefix(token, d.trim); s.left-- {
		token = token[len(d.trim):]
	}
	if token == "" || d.trim == "" {
		return token
	}
	s.left = 0
	token, s.held = strings.Repeat(d.trim, s.held)+token, 0
	for s.held < d.right && strings.HasSuffix(token, d.trim) {
		token = token[:len(token)-len(d.trim)]
		s.held++
	}
	return token
}

// byteToken returns the byte of a token such as <0x0A>, and other tokens unchanged.
func byteToken(token string, _ bool) string {
	if len(token) != 6 || !strings.HasPrefix(token, "<0x") || token[5] != '>' {
		return token
	}
	high, low := hexDigit(token[3]), hexDigit(token[4])
	if high < 0 || low < 0 {
		return token
	}
	return string([]byte{byte(high<<4 | low)})
}

// hexDigit returns the value of a digit, −1 if it is none.
func hexDigit(c byte) int {
	if c >= 'A' && c <= 'F' {
		c += 'a' - 'A'
	}
	return strings.IndexByte("0123456789abcdef", c)
}

// trimmed removes up to left and right characters from the ends of a token.
func trimmed(character string, left, right int) func(string, bool) string {
	return func(token string, _ bool) string {
		for n := left; n > 0 && strings.HasPrefix(token, character); n-- {
			token = token[len(character):]
		}
		for n := right; n > 0 && strings.HasSuffix(token, character); n-- {
			token = token[:len(token)-len(character)]
		}
		return token
	}
}

// metaspaceText replaces a character by blanks, except at the beginning of the first token.
func metaspaceText(blank string, prefix bool) func(string, bool) string {
	return func(token string, first bool) string {
		if first && prefix {
			return strings.ReplaceAll(token, blank, "")
		}
		return strings.ReplaceAll(token, blank, " ")
	}
}

// oneCharacter reports whether s consists of a single character.
func oneCharacter(s string) bool { return utf8.RuneCountInString(s) == 1 }
