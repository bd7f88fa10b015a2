package look

import (
	"cmp"
	"math"
	"slices"

	"attention/internal/tensorprint"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// Candidate is a token that may come next.
type Candidate struct {
	Token
	Probability float64 `json:"probability"`
}

// mostCandidates is how many candidates a look has.
const mostCandidates = 10

// candidates returns the likeliest tokens by a row of the logits (N, V), or (V) of one, which may be more than the
// tokenizer has tokens.
func candidates(t text.Tokenizer, logits *tensor.Dense, row int) ([]Candidate, error) {
	shape := logits.Shape()
	v := shape[len(shape)-1]
	all := slices.Clone(tensorprint.Float64s(logits)[row*v:][:v])
	largest, sum := slices.Max(all), 0.0
	for i, v := range all {
		all[i] = math.Exp(v - largest)
		sum += all[i]
	}
	ids := make([]int, min(len(all), t.Len()))
	for i := range ids {
		ids[i] = i
	}
	slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(all[b], all[a]) })
	ids = ids[:min(len(ids), mostCandidates)]
	tokens, err := tokensOf(t, ids)
	out := make([]Candidate, len(tokens))
	for i, token := range tokens {
		out[i] = Candidate{token, all[token.ID] / sum}
	}
	return out, err
}
