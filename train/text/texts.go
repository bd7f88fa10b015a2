package text

import (
	"errors"
	"strconv"
	"strings"
)

// Texts returns the text of each token, as Piece returns it. A token that is part of a character is quoted, for example
// \xc3.
func Texts(t Tokenizer, ids []int) ([]string, error) {
	if t == nil {
		return nil, errors.New("text: texts: got no tokenizer, want one")
	}
	texts := make([]string, len(ids))
	for i, id := range ids {
		var err error
		if texts[i], err = Piece(t, id); err != nil {
			return nil, err
		}
		if quoted := strconv.Quote(texts[i]); strings.Contains(quoted, `\x`) {
			texts[i] = quoted[1 : len(quoted)-1]
		}
	}
	return texts, nil
}

// Whole returns the text of all tokens together, with U+FFFD for bytes that are not a character.
func Whole(t Tokenizer, ids []int) (string, error) {
	d := NewDecoder(t)
	var text strings.Builder
	for _, id := range ids {
		part, err := d.Decode(id)
		if err != nil {
			return "", err
		}
		text.WriteString(part)
	}
	return text.String() + d.Flush(), nil
}
