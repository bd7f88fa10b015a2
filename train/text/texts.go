package text

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gorgonia.org/tensor"
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

// WeightTexts are the texts of the tokens that label the rows and columns of attention weights.
type WeightTexts struct {
	Queries []string `json:"queries"`
	Keys    []string `json:"keys"`
	Causal  bool     `json:"causal"` // whether a query sees no later key
}

// Note returns the texts in the form of a record's note about the weights.
func (t WeightTexts) Note() string {
	note, _ := json.Marshal(t) // strings and a bool can always be JSON
	return string(note)
}

// ReadWeightTexts reads the note about weights of a shape, whose last axes are queries and keys.
func ReadWeightTexts(note string, weights tensor.Shape) (t WeightTexts, err error) {
	if weights.Dims() < 2 {
		return t, fmt.Errorf("got weights of shape %v, want queries and keys", weights)
	}
	if err := json.Unmarshal([]byte(note), &t); err != nil {
		return t, err
	}
	queries, keys := weights[weights.Dims()-2], weights[weights.Dims()-1]
	if len(t.Queries) != queries || len(t.Keys) != keys {
		return t, fmt.Errorf("got %d queries and %d keys, want %d and %d", len(t.Queries), len(t.Keys), queries, keys)
	}
	return t, nil
}
