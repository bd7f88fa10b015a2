package translate

import (
	"io"
	"math/rand/v2"
	"time"

	"attention/graph"
	"attention/train"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// Names of the model's inputs.
const (
	sourceInput  = "source"  // (B, S) ids of the written date, then padding
	lengthsInput = "lengths" // (B) of the sources without padding
	targetInput  = "target"  // (B, T) the begin mark, then the ISO date without its last character
	targetsInput = "targets" // (B, T) the ISO date, or graph.IgnoreTarget in a row without a pair
)

// alphabets holds the vocabularies of written dates and ISO dates.
type alphabets struct{ written, iso *text.Vocabulary }

func newAlphabets() (a alphabets, err error) {
	if a.written, err = text.NewVocabulary(writtenCharacters); err != nil {
		return a, err
	}
	a.iso, err = text.NewVocabulary(isoCharacters)
	return a, err
}

// begin returns the id of the mark before an ISO date.
func (a alphabets) begin() int { return a.iso.Len() }

// pairBatch is a batch whose memory is reused.
type pairBatch struct {
	alphabets
	batch                            train.Batch
	source, lengths, target, targets []int
}

func newPairBatch(a alphabets, size int) *pairBatch {
	in := map[string]*tensor.Dense{}
	ids := func(name string, shape ...int) []int {
		in[name] = tensor.New(tensor.Of(tensor.Int), tensor.WithShape(shape...))
		return in[name].Ints()
	}
	return &pairBatch{
		alphabets: a,
		batch:     train.Batch{Inputs: in},
		source:    ids(sourceInput, size, writtenLength),
		lengths:   ids(lengthsInput, size),
		target:    ids(targetInput, size, isoLength),
		targets:   ids(targetsInput, size, isoLength),
	}
}

// fill writes the pairs to the first rows and clears the others.
func (b *pairBatch) fill(pairs []datePair) (train.Batch, error) {
	clear(b.source)
	clear(b.lengths)
	clear(b.target)
	for i := range b.targets {
		b.targets[i] = graph.IgnoreTarget
	}
	for row, p := range pairs {
		written, err := b.written.Encode(p.written)
		if err != nil {
			return train.Batch{}, err
		}
		iso, err := b.iso.Encode(p.iso)
		if err != nil {
			return train.Batch{}, err
		}
		target, targets := b.target[row*isoLength:], b.targets[row*isoLength:]
		b.lengths[row] = copy(b.source[row*writtenLength:], written)
		target[0] = b.begin()
		copy(target[1:], iso[:isoLength-1])
		copy(targets, iso)
	}
	b.batch.Tokens = len(pairs) * isoLength
	return b.batch, nil
}

// randomPairs is an endless source of random dates in random styles.
type randomPairs struct {
	dates  []time.Time
	state  *rand.PCG // of random
	random *rand.Rand
	out    *pairBatch
}

func newRandomPairs(dates []time.Time, state *rand.PCG, out *pairBatch) *randomPairs {
	return &randomPairs{dates: dates, state: state, random: rand.New(state), out: out}
}

// State returns the state of the random numbers.
func (s *randomPairs) State() []byte {
	state, _ := s.state.MarshalBinary() // whose error is always nil
	return state
}

// SetState continues with the random numbers after a state.
func (s *randomPairs) SetState(state []byte) error { return s.state.UnmarshalBinary(state) }

func (s *randomPairs) Next() (train.Batch, error) {
	styles := dateStyles()
	pairs := make([]datePair, len(s.out.lengths))
	for i := range pairs {
		pairs[i] = writeDate(s.dates[s.random.IntN(len(s.dates))], styles[s.random.IntN(len(styles))])
	}
	return s.out.fill(pairs)
}

// listedPairs is a source of all pairs in order. After io.EOF it starts again.
type listedPairs struct {
	pairs []datePair
	next  int
	out   *pairBatch
}

func (s *listedPairs) Next() (train.Batch, error) {
	if s.next == len(s.pairs) {
		s.next = 0
		return train.Batch{}, io.EOF
	}
	first := s.next
	s.next = min(first+len(s.out.lengths), len(s.pairs))
	return s.out.fill(s.pairs[first:s.next])
}
