package generate

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
)

// sampler draws tokens with the probabilities softmax(logits / temperature): top-k, then top-p and then min-p restrict
// them to the most likely ones. Before that, the repetition penalty lowers the logits of tokens of the text. This is
// the order of transformers. The same config, text and scores give the same tokens; each draw takes one number from the
// random stream.
type sampler struct {
	config Config
	random *rand.Rand
	seen   []bool    // for each id, whether the text contains it; nil without a repetition penalty
	scores []float64 // the logits after the penalty
	// Candidates move from heap to sorted one by one, the greatest first: most draws need
	// only a few in order.
	heap, sorted []candidate
}

type candidate struct {
	id     int
	weight float64 // exp((logit − greatest) / temperature)
}

// before reports whether a comes before b: the greater weight, or of equal ones the smaller id.
func (a candidate) before(b candidate) bool {
	return a.weight > b.weight || a.weight == b.weight && a.id < b.id
}

func newSampler(c Config, vocab int) *sampler {
	c.VocabSize = cmp.Or(c.VocabSize, vocab)
	s := &sampler{config: c}
	if p := c.RepetitionPenalty; p != 0 && p != 1 {
		s.seen = make([]bool, c.VocabSize)
	}
	s.reset()
	return s
}

// reset restarts the random stream and forgets the text.
func (s *sampler) reset() {
	s.random = rand.New(rand.NewPCG(uint64(s.config.Seed), 0))
	s.forget()
}

// forget forgets the text.
func (s *sampler) forget() { clear(s.seen) }

// see adds tokens to the text.
func (s *sampler) see(ids ...int) {
	for _, id := range ids {
		if id < len(s.seen) {
			s.seen[id] = true
		}
	}
}

// penalized returns the logits after lowering those of the text's tokens.
func (s *sampler) penalized(logits []float64) []float64 {
	s.scores = append(s.scores[:0], logits...)
	for id, seen := range s.seen {
		switch v := logits[id]; {
		case seen && v < 0:
			s.scores[id] = v * s.config.RepetitionPenalty
		case seen:
			s.scores[id] = v / s.config.RepetitionPenalty
		}
	}
	return s.scores
}

// draw draws a token by its logits and adds it to the text.
func (s *sampler) draw(logits []float64) (int, error) {
	logits = logits[:s.config.VocabSize]
	if s.seen != nil {
		logits = s.penalized(logits)
	}
	id, err := s.choose(logits)
	if err == nil {
		s.see(id)
	}
	return id, err
}

// choose draws a token by its logits.
func (s *sampler) choose(logits []float64) (int, error) {
	best, err := greatest(logits)
	if err != nil || s.config.Temperature == 0 {
		return best, err
	}
	n, total := s.limit(s.gather(logits, logits[best]))
	left := s.random.Float64() * total
	for i := range n {
		if left -= s.at(i).weight; left < 0 {
			return s.at(i).id, nil
		}
	}
	return s.at(n - 1).id, nil // the sum of the weights was rounded up
}

// limit returns how many of n candidates, whose weights sum to total, remain under the limits of the config, and the
// sum of their weights.
func (s *sampler) limit(n int, total float64) (int, float64) {
	if k := s.config.TopK; k > 0 && k < n {
		n, total = s.first(n, func(i int, _ float64) bool { return i < k })
	}
	if p := s.config.TopP; p > 0 && p < 1 {
		all := total
		n, total = s.first(n, func(_ int, before float64) bool { return before < p*all })
	}
	if least := s.config.MinP; least > 0 { // relative to the greatest weight, which is 1
		n, total = s.first(n, func(i int, _ float64) bool { return s.at(i).weight >= least })
	}
	return n, total
}

// first returns how many of the first n candidates come before the first one that keep rejects, and the sum of their
// weights. keep gets a candidate's number and the sum of the weights before it.
func (s *sampler) first(n int, keep func(i int, before float64) bool) (kept int, sum float64) {
	for kept < n && keep(kept, sum) {
		sum += s.at(kept).weight
		kept++
	}
	return kept, sum
}

// greatest returns the id with the greatest score, the first of equals.
func greatest(logits []float64) (int, error) {
	best := 0
	for id, v := range logits {
		if math.IsNaN(v) || math.IsInf(v, 1) {
			return 0, fmt.Errorf("logits: got %v for id %d, want numbers: are the weights finite?", v, id)
		}
		if v > logits[best] {
			best = id
		}
	}
	if math.IsInf(logits[best], -1) {
		return 0, fmt.Errorf("logits: got %v for all %d ids, want a number", logits[best], len(logits))
	}
	return best, nil
}

// gather makes the candidates, the ids with a weight above 0; top is the greatest score. It
// returns their number and the sum of their weights.
func (s *sampler) gather(logits []float64, top float64) (n int, total float64) {
	s.heap, s.sorted = s.heap[:0], s.sorted[:0]
	for id, v := range logits {
		if w := math.Exp((v - top) / s.config.Temperature); w > 0 {
			s.heap = append(s.heap, candidate{id, w})
			total += w
		}
	}
	for i := len(s.heap)/2 - 1; i >= 0; i-- {
		s.sink(i)
	}
	return len(s.heap), total
}

// at returns candidate i, the greatest being 0.
func (s *sampler) at(i int) candidate {
	for len(s.sorted) <= i {
		last := len(s.heap) - 1
		s.sorted = append(s.sorted, s.heap[0])
		s.heap[0] = s.heap[last]
		s.heap = s.heap[:last]
		s.sink(0)
	}
	return s.sorted[i]
}

// sink restores the order of the heap below i.
func (s *sampler) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(s.heap) {
			return
		}
		if right := child + 1; right < len(s.heap) && s.heap[right].before(s.heap[child]) {
			child = right
		}
		if !s.heap[child].before(s.heap[i]) {
			return
		}
		s.heap[i], s.heap[child] = s.heap[child], s.heap[i]
		i = child
	}
}
