package text

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// span is a part of a text, from a byte up to another one.
type span [2]int

// places collects where the tokens of a text are. A normalized text has, for each byte, the span of the character that
// it comes from.
type places struct {
	bert    bertNormalizer
	tokens  []span
	at      int // where the normalized part begins
	aligned []span
}

// add adds a token; a nil places does nothing.
func (p *places) add(s span) {
	if p != nil {
		p.tokens = append(p.tokens, s)
	}
}

// of returns the span of bytes of a normalized text.
func (p *places) of(start, end int) span {
	if p == nil {
		return span{}
	}
	return span{p.aligned[start-p.at][0], p.aligned[end-p.at-1][1]}
}

// placed encodes a word and adds the places of its tokens.
func (e *encoder) placed(p part) error {
	begin := len(e.ids)
	if err := e.piece(p); err != nil {
		return err
	}
	at, end := p.at, p.at+len(p.text)
	for i, id := range e.ids[begin:] {
		n := len(e.tokens[id])
		switch {
		case id == e.words.unknown:
			n = end - at
		case i > 0:
			n -= len(e.words.prefix)
		}
		e.places.add(e.places.of(at, at+n))
		at += n
	}
	return nil
}

// placedRune is a character of a normalized text and the span that it comes from.
type placedRune struct {
	rune
	span
	added bool // behind another one of the same character
}

// normalize returns the normalized text of a part and keeps its spans. Characters that are added have the span of the
// character before them, as in the Rust engine.
func (p *places) normalize(of part) string {
	all, kinds := make([]placedRune, 0, len(of.text)), kinds()
	add := func(r rune, at span) {
		switch k := kinds[r]; {
		case p.bert.clean && (r == utf8.RuneError || k&invisible != 0):
		case p.bert.clean && k&space != 0:
			all = append(all, placedRune{' ', at, false})
		case p.bert.chinese && isChinese(r):
			all = append(all, placedRune{' ', at, false}, placedRune{r, at, false}, placedRune{' ', at, false})
		default:
			all = append(all, placedRune{r, at, false})
		}
	}
	for i, r := range of.text {
		at := span{of.at + i, of.at + i + utf8.RuneLen(r)}
		if !p.bert.lowered {
			add(r, at)
			continue
		}
		for _, r := range lowercase(string(r)) {
			add(r, at)
		}
	}
	if p.bert.accents {
		all = decomposed(all, of.at)
		all = slices.DeleteFunc(all, func(r placedRune) bool { return kinds[r.rune]&nonspacing != 0 })
	}
	var b strings.Builder
	p.at, p.aligned = of.at, p.aligned[:0]
	for _, r := range all {
		text := string(r.rune)
		if p.bert.lower {
			text = lowercase(text)
		}
		b.WriteString(text)
		for range len(text) {
			p.aligned = append(p.aligned, r.span)
		}
	}
	return b.String()
}

// decomposed returns the normal form D of characters. A mark that comes to stand elsewhere has the span of the place.
func decomposed(all []placedRune, at int) []placedRune {
	parts, kinds := make([]placedRune, 0, len(all)), kinds()
	class := func(r placedRune) uint8 {
		if r.rune < utf8.RuneSelf || kinds[r.rune]&formless != 0 {
			return 0
		}
		return norm.NFD.PropertiesString(string(r.rune)).CCC()
	}
	for _, r := range all {
		if r.rune < utf8.RuneSelf || kinds[r.rune]&formless != 0 {
			parts = append(parts, r)
			continue
		}
		for i, d := range norm.NFD.String(string(r.rune)) {
			parts = append(parts, placedRune{d, r.span, i > 0})
		}
	}
	for i := 0; i < len(parts); i++ {
		end := i
		for end < len(parts) && class(parts[end]) > 0 {
			end++
		}
		slices.SortStableFunc(parts[i:end], func(a, b placedRune) int { return int(class(a)) - int(class(b)) })
		i = end
	}
	next, before := 0, span{at, at}
	for i := range parts {
		if !parts[i].added {
			before = all[next].span
			next++
		}
		parts[i].span = before
	}
	return parts
}
