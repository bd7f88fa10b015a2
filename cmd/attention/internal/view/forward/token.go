package forward

import (
	"strconv"
	"unicode/utf8"

	"attention/train/text"
)

// Token is a token and its text.
type Token struct {
	ID   int    `json:"id"`
	Text string `json:"text"`
	Part bool   `json:"part,omitempty"` // whether Text has hexadecimal bytes because the token is a part of a character
	Of   string `json:"of,omitempty"`   // the character of which it is a part, if the neighbouring tokens have the rest
	At   int    `json:"at,omitempty"`   // its number among the tokens of the character, from 1
}

// Sequence is the tokens of a text, or of one of two texts.
type Sequence struct {
	Name   string  `json:"name"`
	Tokens []Token `json:"tokens"`
}

// tokensOf returns the tokens of ids.
func tokensOf(t text.Tokenizer, ids []int) ([]Token, error) {
	tokens, parts := make([]Token, len(ids)), ""
	from := 0 // the first token of parts
	for i, id := range ids {
		s, err := text.Piece(t, id)
		if err != nil {
			return nil, err
		}
		tokens[i] = Token{ID: id, Text: s}
		if utf8.ValidString(s) {
			parts = ""
			continue
		}
		quoted := strconv.Quote(s)
		tokens[i] = Token{ID: id, Text: quoted[1 : len(quoted)-1], Part: true}
		if parts == "" {
			from = i
		}
		if parts += s; utf8.ValidString(parts) {
			for k := from; k <= i; k++ {
				tokens[k].Of, tokens[k].At = parts, k-from+1
			}
			parts = ""
		}
	}
	return tokens, nil
}
