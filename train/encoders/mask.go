package encoders

import (
	"errors"
	"math/rand/v2"

	"attention/graph"
	"attention/train/pretrained"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// Of a text's tokens, special ones aside, a share is masked: most become [MASK], some another token, and the others
// stay (Devlin et al. 2019).
const (
	maskedShare  = 0.15
	becomesMask  = 0.8
	becomesOther = 0.1
)

// masker masks tokens.
type masker struct {
	tokenizer *text.SubwordTokenizer
	mask      int // the id of [MASK]
}

func newMasker(t *text.SubwordTokenizer) (masker, error) {
	id, ok := t.ID("[MASK]")
	if !ok {
		return masker{}, errors.New("tokenizer: got no token [MASK], want one to mask others with")
	}
	return masker{t, id}, nil
}

// mask masks tokens of the texts of a batch, each padded to a width, and returns the inputs of targetsAt. Held-out texts
// have the same masks in every epoch. Of each text at least one token is masked.
func (s *Batches) mask(texts [][]int, batch []int32, width int) (rows, targets *tensor.Dense, tokens int) {
	var at, ids []int
	for i, of := range texts {
		epoch := s.epoch
		if !s.config.Shuffle {
			epoch = 0
		}
		random := rand.New(rand.NewPCG(s.config.Seed, epoch<<32|uint64(batch[i])))
		var places []int
		for j, id := range of {
			if !s.masker.tokenizer.IsSpecial(id) {
				places = append(places, j)
			}
		}
		if len(places) == 0 {
			places = []int{len(of) / 2}
		}
		random.Shuffle(len(places), func(a, b int) { places[a], places[b] = places[b], places[a] })
		for _, j := range places[:max(1, int(maskedShare*float64(len(places))+0.5))] {
			at, ids = append(at, i*width+j), append(ids, of[j])
			switch x := random.Float64(); {
			case x < becomesMask:
				of[j] = s.masker.mask
			case x < becomesMask+becomesOther:
				of[j] = random.IntN(s.masker.tokenizer.Len())
			}
		}
	}
	return targetsAt(at, ids)
}

// targetsAt returns places of tokens and their targets as inputs, padded so that few batches differ in shape, and the
// number of tokens.
func targetsAt(at, ids []int) (rows, targets *tensor.Dense, tokens int) {
	tokens = len(at)
	for len(at) < pretrained.PaddedLength(tokens) {
		at, ids = append(at, 0), append(ids, graph.IgnoreTarget)
	}
	return tensor.New(tensor.WithShape(len(at)), tensor.WithBacking(at)),
		tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(ids)), tokens
}
