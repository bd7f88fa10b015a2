package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// AddedToken is a token that is found in a text before the text is split.
type AddedToken struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"` // matches whole words only
	LStrip     bool   `json:"lstrip"`      // includes the white space before it
	RStrip     bool   `json:"rstrip"`      // and behind it
	Normalized bool   `json:"normalized"`  // is matched in the normalized text
	Special    bool   `json:"special"`     // has a function beyond its text
}

// tokenFinder finds added tokens in a text: the first one, and of several that begin there the longest.
type tokenFinder struct {
	tokens []AddedToken
	begins [256]bool
	nodes  map[uint64]int32 // by node<<8 | byte; node 0 is the root
	ends   []int32          // by node: the token that ends there, or −1
}

// add adds a token that is written as content.
func (f *tokenFinder) add(t AddedToken, content string) {
	if content == "" {
		return
	}
	if f.nodes == nil {
		f.nodes, f.ends = map[uint64]int32{}, []int32{-1}
	}
	f.begins[content[0]] = true
	node := int32(0)
	for i := range len(content) {
		key := uint64(node)<<8 | uint64(content[i])
		next, ok := f.nodes[key]
		if !ok {
			next = int32(len(f.ends))
			f.nodes[key], f.ends = next, append(f.ends, -1)
		}
		node = next
	}
	if f.ends[node] < 0 {
		f.ends[node] = int32(len(f.tokens))
	}
	f.tokens = append(f.tokens, t)
}

// next returns the first token in a text from an index on, and its position; nil if there is none.
func (f *tokenFinder) next(text string, from int) (t *AddedToken, start, end int) {
	for at := from; at < len(text); at++ {
		if !f.begins[text[at]] {
			continue
		}
		if t, n := f.longest(text[at:]); t != nil {
			return t, at, at + n
		}
	}
	return nil, 0, 0
}

// longest returns the longest token at the beginning of a text and its length; nil if there is none.
func (f *tokenFinder) longest(text string) (t *AddedToken, n int) {
	node, found := int32(0), int32(-1)
	for i := range len(text) {
		next, ok := f.nodes[uint64(node)<<8|uint64(text[i])]
		if !ok {
			break
		}
		if node = next; f.ends[node] >= 0 {
			found, n = f.ends[node], i+1
		}
	}
	if found < 0 {
		return nil, 0
	}
	return &f.tokens[found], n
}

// split yields the tokens in a text and the text between them, for which token is nil.
func (f *tokenFinder) split(text string, yield func(start, end int, token *AddedToken) error) error {
	end := 0 // end of the part that has been yielded
	for from := 0; f.nodes != nil; {
		t, start, stop := f.next(text, from)
		if t == nil {
			break
		}
		from = stop
		if t.SingleWord && !alone(text, start, stop) {
			continue
		}
		if t.LStrip {
			start = max(end, len(strings.TrimRightFunc(text[:start], unicode.IsSpace)))
		}
		if t.RStrip {
			stop = len(text) - len(strings.TrimLeftFunc(text[stop:], unicode.IsSpace))
		}
		if end < start {
			if err := yield(end, start, nil); err != nil {
				return err
			}
		}
		if err := yield(start, stop, t); err != nil {
			return err
		}
		end = stop
	}
	if end == len(text) {
		return nil
	}
	return yield(end, len(text), nil)
}

// alone reports whether text[start:end] is bounded by word boundaries.
func alone(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	after, _ := utf8.DecodeRuneInString(text[end:])
	return (start == 0 || !isWord(before)) && (end == len(text) || !isWord(after))
}
