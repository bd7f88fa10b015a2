package text

import (
	"encoding/json"
	"fmt"

	"gorgonia.org/tensor"
)

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
