package text

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// NGram holds the losses of models that only count tokens, in nats per token: a trained model with a lower loss has
// learned more than frequencies.
type NGram struct {
	Unigram      float64 `json:"unigram"`       // cross-entropy on the validation split
	UnigramAlpha float64 `json:"unigram_alpha"` // α of its smoothing
	Bigram       float64 `json:"bigram"`        // cross-entropy on the validation split
	BigramAlpha  float64 `json:"bigram_alpha"`
	// BigramEntropy is the entropy of a training token given the token before it, from the unsmoothed counts of the
	// training split: no model that sees only one token can have a lower loss on the training split.
	BigramEntropy float64 `json:"bigram_entropy"`
}

// smoothing are the values of α to try.
var smoothing = [...]float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3}

// NewNGram counts the ids of the training split, for a vocabulary of V, and computes the losses on the validation
// split, over every token except the first, with add-α smoothing
//
//	unigram  −ln p(c)      p(c)     = (n(c) + α)  / (N + α·V)
//	bigram   −ln p(c | b)  p(c | b) = (n(bc) + α) / (n(b·) + α·V)
//
// Each model uses the α of 0.001, 0.003, 0.01, … 3 that is best on the validation split itself, so that no model of
// this family has a lower loss. Splits of fewer than two ids and ids outside [0, V) are errors.
func NewNGram(training, validation []int, vocabulary int) (NGram, error) {
	if vocabulary < 1 || vocabulary > math.MaxInt32 {
		return NGram{}, fmt.Errorf("text: vocabulary: got %d, want 1 to %d", vocabulary, math.MaxInt32)
	}
	if err := checkSplit("training split", training, vocabulary); err != nil {
		return NGram{}, err
	}
	if err := checkSplit("validation split", validation, vocabulary); err != nil {
		return NGram{}, err
	}
	seen, asked := countGrams(training), countGrams(validation)
	n := NGram{Unigram: math.Inf(1), Bigram: math.Inf(1), BigramEntropy: seen.entropy()}
	for _, alpha := range smoothing {
		if loss := seen.unigramLoss(asked, alpha, float64(vocabulary)); loss < n.Unigram {
			n.Unigram, n.UnigramAlpha = loss, alpha
		}
		if loss := seen.bigramLoss(asked, alpha, float64(vocabulary)); loss < n.Bigram {
			n.Bigram, n.BigramAlpha = loss, alpha
		}
	}
	return n, nil
}

func checkSplit(what string, ids []int, vocabulary int) error {
	if len(ids) < 2 {
		return fmt.Errorf("text: %s: got %d ids, want at least 2", what, len(ids))
	}
	for i, id := range ids {
		if id < 0 || id >= vocabulary {
			return fmt.Errorf("text: %s: got id %d at position %d, want 0 to %d", what, id, i, vocabulary-1)
		}
	}
	return nil
}

type pair struct{ before, id int }

// grams holds the counts of a split, in maps because a text contains few of the V² pairs.
type grams struct {
	total  int          // number of ids
	single map[int]int  // id → count
	pairs  map[pair]int // pair → count
	before map[int]int  // id → number of pairs that begin with it
	order  []pair       // the pairs, ascending, so that sums are reproducible
}

func countGrams(ids []int) *grams {
	g := &grams{total: len(ids), single: map[int]int{}, pairs: map[pair]int{}, before: map[int]int{}}
	g.single[ids[0]]++
	for i, id := range ids[1:] {
		g.single[id]++
		g.before[ids[i]]++
		g.pairs[pair{ids[i], id}]++
	}
	g.order = slices.Collect(maps.Keys(g.pairs))
	slices.SortFunc(g.order, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.before, b.before), cmp.Compare(a.id, b.id))
	})
	return g
}

// perPair returns Σ n·loss(pair) / Σ n over the pairs of g.
func (g *grams) perPair(loss func(pair) float64) float64 {
	sum := 0.0
	for _, p := range g.order {
		sum += float64(g.pairs[p]) * loss(p)
	}
	return sum / float64(g.total-1)
}

func (g *grams) unigramLoss(asked *grams, alpha, vocabulary float64) float64 {
	return asked.perPair(func(p pair) float64 {
		return -math.Log((float64(g.single[p.id]) + alpha) / (float64(g.total) + alpha*vocabulary))
	})
}

func (g *grams) bigramLoss(asked *grams, alpha, vocabulary float64) float64 {
	return asked.perPair(func(p pair) float64 {
		return -math.Log((float64(g.pairs[p]) + alpha) / (float64(g.before[p.before]) + alpha*vocabulary))
	})
}

// entropy returns −Σ n(bc)/N · ln(n(bc)/n(b·)).
func (g *grams) entropy() float64 {
	return g.perPair(func(p pair) float64 {
		return -math.Log(float64(g.pairs[p]) / float64(g.before[p.before]))
	})
}
