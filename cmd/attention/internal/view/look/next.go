package look

import (
	"cmp"
	"slices"

	"attention/internal/dense"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
)

// Candidate is a token that may come next.
type Candidate struct {
	Token
	Probability float64 `json:"probability"`
}

// mostCandidates is how many candidates a look has.
const mostCandidates = 10

// candidates returns the likeliest tokens of a row of the logits. These may be more than the tokenizer has tokens.
func (f *forward) candidates(t text.Tokenizer, row int) ([]Candidate, error) {
	shape := f.logits.Shape()
	v := shape[len(shape)-1]
	rowOf := func(n *G.Node) []float64 { return dense.Float64s(n.Value())[row*v:][:v] }
	logits, probabilities := rowOf(f.logits), rowOf(f.probabilities)
	ids := make([]int, min(v, t.Len()))
	for i := range ids {
		ids[i] = i
	}
	slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(logits[b], logits[a]) })
	ids = ids[:min(len(ids), mostCandidates)]
	tokens, err := tokensOf(t, ids)
	out := make([]Candidate, len(tokens))
	for i, token := range tokens {
		out[i] = Candidate{token, probabilities[token.ID]}
	}
	return out, err
}
