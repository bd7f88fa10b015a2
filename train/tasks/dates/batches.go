package dates

import (
	"io"
	"math/rand/v2"
	"time"

	"attention/graph"
	"attention/train"
	"attention/train/tasks"
	"attention/train/text"
)

// Names of the model's inputs.
const (
	SourceInput  = "source"  // (B, S) ids of the written date, then padding
	LengthsInput = "lengths" // (B) of the sources without padding
	TargetInput  = "target"  // (B, T) the begin mark, then the ISO date without its last character
	TargetsInput = "targets" // (B, T) the ISO date, or graph.IgnoreTarget in a row without a pair
)

// Alphabets holds the vocabularies of written dates and ISO dates.
type Alphabets struct{ Written, ISO *text.Vocabulary }

// NewAlphabets returns the vocabularies.
func NewAlphabets() (a Alphabets, err error) {
	if a.Written, err = text.NewVocabulary(WrittenCharacters); err != nil {
		return a, err
	}
	a.ISO, err = text.NewVocabulary(ISOCharacters)
	return a, err
}

// Begin returns the id of the mark before an ISO date.
func (a Alphabets) Begin() int { return a.ISO.Len() }

// Batch is a batch whose memory is reused.
type Batch struct {
	Alphabets
	Batch                            train.Batch
	Source, Lengths, Target, Targets []int
}

// NewBatch returns a batch with memory for size pairs.
func NewBatch(a Alphabets, size int) *Batch {
	in := train.Values{}
	return &Batch{
		Alphabets: a,
		Batch:     train.Batch{Inputs: in},
		Source:    tasks.Ids(in, SourceInput, size, WrittenLength),
		Lengths:   tasks.Ids(in, LengthsInput, size),
		Target:    tasks.Ids(in, TargetInput, size, ISOLength),
		Targets:   tasks.Ids(in, TargetsInput, size, ISOLength),
	}
}

// Fill writes the pairs to the first rows and clears the other rows.
func (b *Batch) Fill(pairs []Pair) (train.Batch, error) {
	clear(b.Source)
	clear(b.Lengths)
	clear(b.Target)
	for i := range b.Targets {
		b.Targets[i] = graph.IgnoreTarget
	}
	for row, p := range pairs {
		written, err := b.Written.Encode(p.Written)
		if err != nil {
			return train.Batch{}, err
		}
		iso, err := b.ISO.Encode(p.ISO)
		if err != nil {
			return train.Batch{}, err
		}
		target, targets := b.Target[row*ISOLength:], b.Targets[row*ISOLength:]
		b.Lengths[row] = copy(b.Source[row*WrittenLength:], written)
		target[0] = b.Begin()
		copy(target[1:], iso[:ISOLength-1])
		copy(targets, iso)
	}
	b.Batch.Tokens = len(pairs) * ISOLength
	return b.Batch, nil
}

// RandomPairs is an endless source of random dates in random styles.
type RandomPairs struct {
	Dates []time.Time
	Out   *Batch

	state  *rand.PCG // of random
	random *rand.Rand
}

// NewRandomPairs returns a source that draws its random numbers from state.
func NewRandomPairs(dates []time.Time, state *rand.PCG, out *Batch) *RandomPairs {
	return &RandomPairs{Dates: dates, Out: out, state: state, random: rand.New(state)}
}

// State returns the state of the random number generator.
func (s *RandomPairs) State() []byte {
	state, _ := s.state.MarshalBinary() // its error is always nil
	return state
}

// SetState restores a state of the random number generator.
func (s *RandomPairs) SetState(state []byte) error { return s.state.UnmarshalBinary(state) }

// Next returns the next batch.
func (s *RandomPairs) Next() (train.Batch, error) {
	styles := Styles()
	pairs := make([]Pair, len(s.Out.Lengths))
	for i := range pairs {
		pairs[i] = Write(s.Dates[s.random.IntN(len(s.Dates))], styles[s.random.IntN(len(styles))])
	}
	return s.Out.Fill(pairs)
}

// ListedPairs is a source of all pairs in order. After io.EOF it starts again.
type ListedPairs struct {
	Pairs []Pair
	Out   *Batch

	next int
}

// Next returns the next batch.
func (s *ListedPairs) Next() (train.Batch, error) {
	if s.next == len(s.Pairs) {
		s.next = 0
		return train.Batch{}, io.EOF
	}
	first := s.next
	s.next = min(first+len(s.Out.Lengths), len(s.Pairs))
	return s.Out.Fill(s.Pairs[first:s.next])
}
