package forward

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"attention/internal/dense"
	"attention/train/text"
)

// Candidate is a token that may come next.
type Candidate struct {
	Token
	Probability float64 `json:"probability"`
}

// Next is the tokens that may come at a place.
type Next struct {
	Likeliest []Candidate `json:"likeliest"`
	Drawn     Candidate   `json:"drawn"` // by the number that was given
}

// mostCandidates is how many candidates a pass has.
const mostCandidates = 10

// expected is the logits of the next tokens at some positions, and their tokenizer.
type expected struct {
	logits    []float64
	tokenizer text.Tokenizer
}

// expected returns a row of the logits. The row may be longer than the tokenizer's vocabulary.
func (f *passGraph) expected(t text.Tokenizer, row int) expected {
	shape := f.logits.Shape()
	v := shape[len(shape)-1]
	return expected{slices.Clone(dense.Float64s(f.logits.Value())[row*v:][:v]), t}
}

// expect stores the likeliest tokens at some positions in a pass.
func (l *Pass) expect(places ...expected) error {
	l.expects = places
	for at := range places {
		next, err := l.NextAt(at, 1, 0)
		if err != nil {
			return err
		}
		l.Next = append(l.Next, next.Likeliest)
	}
	return nil
}

// MaxTemperature is the highest temperature of NextAt.
const MaxTemperature = 10

// NextAt returns the likely tokens at a place, with the probabilities softmax(logits/temperature). With temperature 0
// only the likeliest token remains. The drawn token is the first one, in descending order of probability, at which the
// cumulative probability exceeds draw, a number from 0 to 1.
func (l *Pass) NextAt(place int, temperature, draw float64) (*Next, error) {
	switch {
	case place < 0 || place >= len(l.expects):
		return nil, fmt.Errorf("at: got %d, want a place from 0 to %d", place, len(l.expects)-1)
	case !(temperature >= 0 && temperature <= MaxTemperature):
		return nil, fmt.Errorf("temperature: got %v, want 0 to %d", temperature, MaxTemperature)
	case !(draw >= 0 && draw < 1):
		return nil, fmt.Errorf("draw: got %v, want a number from 0 to below 1", draw)
	}
	return l.expects[place].next(temperature, draw)
}

// next is NextAt of valid numbers.
func (of expected) next(temperature, draw float64) (*Next, error) {
	probabilities := softmax(of.logits, temperature)
	ids := make([]int, min(len(of.logits), of.tokenizer.Len()))
	for i := range ids {
		ids[i] = i
	}
	slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(of.logits[b], of.logits[a]) })
	drawn, sum := ids[0], 0.0
	for _, id := range ids {
		if sum += probabilities[id]; sum > draw {
			drawn = id
			break
		}
	}
	ids = append(ids[:min(len(ids), mostCandidates)], drawn)
	tokens, err := tokensOf(of.tokenizer, ids)
	if err != nil {
		return nil, err
	}
	all := make([]Candidate, len(tokens))
	for i, token := range tokens {
		all[i] = Candidate{token, probabilities[token.ID]}
	}
	last := len(all) - 1
	return &Next{all[:last], all[last]}, nil
}

// softmax returns the probabilities of logits at a temperature. At temperature 0 the first largest logit has
// probability 1.
func softmax(logits []float64, temperature float64) []float64 {
	out := make([]float64, len(logits))
	most := slices.Max(logits)
	if temperature == 0 {
		out[slices.Index(logits, most)] = 1
		return out
	}
	sum := 0.0
	for i, v := range logits {
		out[i] = math.Exp((v - most) / temperature)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}
