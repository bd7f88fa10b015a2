package text

import (
	"errors"
	"unicode/utf8"
)

// Decoder decodes ids one by one while a model draws them: it returns each character as soon as it is complete. The
// text it returns is UTF-8: one U+FFFD replaces the bytes of an incomplete character, and each byte that cannot begin a
// character (the Unicode Standard's "substitution of maximal subparts"; Python's errors="replace").
type Decoder struct {
	tokenizer Tokenizer
	state     decoding // for a tokenizer whose text depends on the tokens before
	pending   []byte   // the incomplete character at the end
}

// NewDecoder returns a decoder of a tokenizer's ids.
func NewDecoder(t Tokenizer) *Decoder {
	d := &Decoder{tokenizer: t}
	d.begin()
	return d
}

// begin starts a new text.
func (d *Decoder) begin() {
	if t, ok := d.tokenizer.(*SubwordTokenizer); ok {
		d.state = t.decoder.begin()
	}
}

// Follow makes the next ids follow the given ones, whose text is not returned: some tokenizers omit a blank at the
// beginning of a text only. After an error of the tokenizer's Decode the Decoder is unchanged.
func (d *Decoder) Follow(ids []int) error {
	next := *d
	for _, id := range ids {
		if _, err := next.Decode(id); err != nil {
			return err
		}
	}
	*d = next
	return nil
}

// next returns the bytes that an id adds.
func (d *Decoder) next(id int) (string, error) {
	if d.tokenizer == nil {
		return "", errors.New("text: decoder: got no tokenizer, want NewDecoder of one")
	}
	t, ok := d.tokenizer.(*SubwordTokenizer)
	if !ok {
		return d.tokenizer.Decode([]int{id})
	}
	if err := checkID(0, id, t.Len()); err != nil {
		return "", err
	}
	return t.decodeNext(&d.state, id), nil
}

// Piece returns the bytes of a token within a text. At the beginning of a text some
// tokenizers leave out a blank that is a part of the token.
func Piece(t Tokenizer, id int) (string, error) {
	d := Decoder{tokenizer: t, state: decoding{begun: true}}
	return d.next(id)
}

// Decode takes the next id and returns the characters that it completes: none, one or several. After an error of the
// tokenizer's Decode the Decoder is unchanged.
func (d *Decoder) Decode(id int) (string, error) {
	token, err := d.next(id)
	if err != nil {
		return "", err
	}
	d.pending = append(d.pending, token...)
	var text []byte
	for utf8.FullRune(d.pending) {
		r, n := utf8.DecodeRune(d.pending)
		if r == utf8.RuneError && n == 1 {
			n = malformed(d.pending)
		}
		text = utf8.AppendRune(text, r)
		d.pending = d.pending[n:]
	}
	return string(text), nil
}

// malformed returns how many bytes of text one U+FFFD replaces: all that could
// have begun a character, at least one.
func malformed(text []byte) int {
	n := 1
	for n < len(text) && !utf8.FullRune(text[:n+1]) {
		n++
	}
	return n
}

// Flush ends the text: it returns U+FFFD if the last character is incomplete,
// otherwise nothing. The next id begins a new text.
func (d *Decoder) Flush() string {
	d.begin()
	if len(d.pending) == 0 {
		return ""
	}
	d.pending = d.pending[:0]
	return string(utf8.RuneError)
}
