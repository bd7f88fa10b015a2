package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// part is a part of a text that is being split into tokens.
type part struct {
	text string
	at   int // the bytes before it in the text
}

// slice returns a part of a part.
func (p part) slice(start, end int) part { return part{p.text[start:end], p.at + start} }

// cutter splits a text that is not empty into parts: a pre-tokenizer. No token extends over two parts.
type cutter interface {
	cut(p part, yield func(part) error) error
}

// sequence splits the parts of one cutter by the next cutter.
type sequence []cutter

func (s sequence) cut(p part, yield func(part) error) error {
	if len(s) == 0 {
		return yield(p)
	}
	return s[0].cut(p, func(p part) error { return s[1:].cut(p, yield) })
}

// whether the text between words is dropped
type wordCutter struct {
	alternatives []func(text string) int
	only         bool // the text between them is dropped
}

func (c wordCutter) cut(p part, yield func(part) error) error {
	for at := 0; at < len(p.text); {
		end, n := c.next(p.text, at)
		if end > at && !c.only {
			if err := yield(p.slice(at, end)); err != nil {
				return err
			}
		}
		if n > 0 {
			if err := yield(p.slice(end, end+n)); err != nil {
				return err
			}
		}
		at = end + n
	}
	return nil
}

// next returns the start of the next word and its length; the length is 0 at the end of a text.
func (c wordCutter) next(text string, at int) (start, n int) {
	for at < len(text) {
		for _, match := range c.alternatives {
			if n := match(text[at:]); n > 0 {
				return at, n
			}
		}
		_, n := utf8.DecodeRuneInString(text[at:])
		at += n
	}
	return at, 0
}

// byteLevel is the last cutter before a model of bytes.
type byteLevel struct {
	prefix bool // a blank goes before a part that does not begin with one
	words  *wordCutter
}

func (c byteLevel) cut(p part, yield func(part) error) error {
	if c.prefix && p.text[0] != ' ' {
		p.text = " " + p.text
	}
	if c.words == nil {
		return yield(p)
	}
	return c.words.cut(p, yield)
}

// the character is put before every part, or before the first
type metaspace struct {
	blank        string
	always, once bool // it goes before every part, or before the first
	split        bool
}

func (c metaspace) cut(p part, yield func(part) error) error {
	p.text = strings.ReplaceAll(p.text, " ", c.blank)
	if (c.always || c.once && p.at == 0) && !strings.HasPrefix(p.text, c.blank) {
		p.text = c.blank + p.text
	}
	if !c.split {
		return yield(p)
	}
	return cutAt(p, mergedWithNext, false, literalMatches(c.blank), yield)
}

// splitter splits at the matches of a pattern.
type splitter struct {
	behavior behavior
	invert   bool
	matches  matches
}

func (c splitter) cut(p part, yield func(part) error) error {
	return cutAt(p, c.behavior, c.invert, c.matches, yield)
}

// charactersThat yields each character of a class as a match.
func charactersThat(class func(rune) bool) matches {
	return func(text string, yield func(start, end int)) error {
		for i, r := range text {
			if class(r) {
				yield(i, i+max(utf8.RuneLen(r), 1))
			}
		}
		return nil
	}
}

// isPunctuation reports whether a character is punctuation.
func isPunctuation(r rune) bool { return kinds()[r]&punctuation != 0 }

// isWord reports whether a character matches \w.
func isWord(r rune) bool { return kinds()[r]&word != 0 }

// isNumber reports whether a character matches \p{N}.
func isNumber(r rune) bool { return kinds()[r]&number != 0 }

// wordsAndSigns yields the matches of \w+ and [^\w\s]+.
func wordsAndSigns(text string, yield func(start, end int)) error {
	class := func(r rune) int {
		switch {
		case isWord(r):
			return 1
		case unicode.IsSpace(r):
			return 0
		}
		return 2
	}
	start, before := 0, 0
	for i, r := range text {
		c := class(r)
		if c == before {
			continue
		}
		if before != 0 {
			yield(start, i)
		}
		start, before = i, c
	}
	if before != 0 {
		yield(start, len(text))
	}
	return nil
}
