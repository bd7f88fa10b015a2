package encoders

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"slices"

	"attention/train"
	"attention/train/pretrained"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// Batches is a Resumable source of batches of Examples, whose inputs Loss reads. Texts of similar length share a batch.
// Without scores a batch holds no text twice, since two equal positives would be negatives of each other's anchors.
// Texts are read and tokenized again for each batch; memory holds some numbers for each example.
type Batches struct {
	config   Config
	encoder  pretrained.Encoder // whose texts are at most MaxLength tokens long
	examples Examples
	summary  Summary
	masker   masker // of Config.Masked
	rows     []row
	plan     [][]int32 // the examples of each batch of the epoch
	epoch    uint64
	next     int // batch of the plan
}

// row has what the plan of an epoch needs of an example.
type row struct {
	hashes  [3]uint64 // of its texts
	lengths [3]int32
}

// tokens returns the number of tokens of all texts of an example.
func (r row) tokens() int32 { return r.lengths[0] + r.lengths[1] + r.lengths[2] }

// NewBatches reads each example once to count its tokens, until ctx ends. All examples have the form of the first one.
func NewBatches(ctx context.Context, e *pretrained.Encoder, from Examples, c Config) (*Batches, error) {
	switch {
	case ctx == nil || e == nil || e.Model == nil || e.Tokenizer == nil || from == nil:
		return nil, errors.New("encoders: batches: got nil, want a context, an encoder with its tokenizer, and examples")
	case from.Len() == 0:
		return nil, errors.New("encoders: batches: got no example, want at least one")
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("encoders: batches: %w", err)
	}
	s := &Batches{config: c, encoder: *e, examples: from, rows: make([]row, from.Len())}
	if n := c.MaxLength; n > 0 {
		s.encoder.Sentence.MaxLength = min(n, s.encoder.Sentence.MaxLength)
	}
	s.config.Batch = min(c.Batch, len(s.rows))
	var err error
	if c.Masked {
		if s.masker, err = newMasker(e.Tokenizer); err != nil {
			return nil, fmt.Errorf("encoders: batches: %w", err)
		}
	}
	seed := maphash.MakeSeed()
	for i := range s.rows {
		if err := cmp.Or(context.Cause(ctx), s.measure(i, seed)); err != nil {
			return nil, err
		}
	}
	s.summary.Examples = len(s.rows)
	s.plan = s.draw()
	s.summary.Batches = len(s.plan)
	places := 0
	for _, b := range s.plan {
		for k := range s.summary.Texts {
			places += len(b) * s.width(b, k)
		}
	}
	s.summary.Fill = float64(s.summary.Tokens) / float64(places)
	return s, nil
}

// measure reads an example and keeps what a plan needs.
func (s *Batches) measure(i int, seed maphash.Seed) error {
	e, err := s.examples.At(i)
	if err != nil {
		return err
	}
	if i == 0 {
		s.summary.Texts, s.summary.Scored = len(s.config.textsOf(e)), e.Score != nil
		if s.config.Ranked {
			s.summary.Texts = 1
		}
	}
	if err := s.check(e); err != nil {
		return fmt.Errorf("%s: %w", s.examples.Where(i), err)
	}
	longest, texts := s.encoder.Sentence.MaxLength, s.config.textsOf(e)
	whole, err := s.encode(texts, math.MaxInt)
	for k, of := range whole {
		all := len(of.IDs)
		if err == nil && (all == 0 || s.config.Tagged && len(firstTokens(e.Words, of, longest)) == 0) {
			err = errors.New("got a text without tokens, want one with some")
		}
		n := min(all, longest)
		if n < all {
			s.summary.Cut++
		}
		s.rows[i].hashes[k], s.rows[i].lengths[k] = maphash.String(seed, texts[k]), int32(n)
		s.summary.Tokens += n
		s.summary.Longest = max(s.summary.Longest, n)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.examples.Where(i), err)
	}
	return nil
}

// encode returns at most so many tokens of each text, or of two texts together. Words with tags and pairs that are read
// together have places and types of tokens.
func (s *Batches) encode(texts []string, most int) (all []text.Encoding, err error) {
	if s.config.Tagged || s.config.Ranked {
		e, err := s.encoder.Tokenizer.EncodeTexts(text.TruncationConfig{MaxLength: most}, texts...)
		if err != nil {
			return nil, err
		}
		return []text.Encoding{*e}, nil
	}
	e := s.encoder
	e.Sentence.MaxLength = most
	all = make([]text.Encoding, len(texts))
	for k, t := range texts {
		if all[k].IDs, err = e.IDs(t); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Summary describes the batches of the first epoch.
func (s *Batches) Summary() Summary { return s.summary }

// Next returns the next batch. After an epoch of a Config with Once it returns io.EOF, and the call after that begins
// the next epoch.
func (s *Batches) Next() (train.Batch, error) {
	if s.next >= len(s.plan) {
		s.epoch, s.next = s.epoch+1, 0
		s.plan = s.draw()
		if s.config.Once {
			return train.Batch{}, io.EOF
		}
	}
	b := s.plan[s.next]
	values := train.Values{}
	scores, labels := make([]float64, len(b)), make([]int, len(b))
	columns := make([][][]int, s.summary.Texts)
	var types [][]int
	var at, tags []int // of words
	for i, place := range b {
		e, err := s.examples.At(int(place))
		var encoded []text.Encoding
		if err == nil {
			encoded, err = s.encode(s.config.textsOf(e), s.encoder.Sentence.MaxLength)
		}
		if err == nil && len(encoded) != len(columns) {
			err = fmt.Errorf("%s: got another example than before: was the file changed?", s.examples.Where(int(place)))
		}
		if err != nil {
			return train.Batch{}, err
		}
		if e.Score != nil {
			scores[i] = *e.Score
		}
		labels[i] = slices.Index(s.config.Classes, e.Label)
		for k, of := range encoded {
			columns[k] = append(columns[k], of.IDs)
		}
		types = append(types, encoded[0].Types)
		if s.config.Tagged {
			for _, first := range firstTokens(e.Words, encoded[0], math.MaxInt) {
				at = append(at, i*s.width(b, 0)+first.token)
				tags = append(tags, slices.Index(s.config.Classes, e.Tags[first.word]))
			}
		}
	}
	tokens := len(b)
	if s.config.Masked {
		values[Rows], values[Targets], tokens = s.mask(columns[0], b, s.width(b, 0))
	}
	switch {
	case s.config.Tagged:
		values[Rows], values[Targets], tokens = targetsAt(at, tags)
	case s.config.Classes != nil:
		values[Labels] = tensor.New(tensor.WithShape(len(b)), tensor.WithBacking(labels))
	}
	for k, rows := range columns {
		values[IDs(k)], values[Lengths(k)] = padded(rows, s.width(b, k))
	}
	if s.summary.Scored {
		values[Scores] = floats(s.encoder.Params.Dtype(), scores)
	}
	if s.config.Ranked {
		if err := values[Scores].Reshape(len(b), 1); err != nil {
			return train.Batch{}, err
		}
		if s.encoder.Model.Config().TypeVocabSize > 0 {
			values[Types], _ = padded(types, s.width(b, 0))
		}
	}
	s.next++
	return train.Batch{Inputs: values, Tokens: tokens}, nil
}

// width returns the tokens to which text k of the examples of a batch is padded.
func (s *Batches) width(batch []int32, k int) int {
	longest := 0
	for _, i := range batch {
		longest = max(longest, int(s.rows[i].lengths[k]))
	}
	return min(pretrained.PaddedLength(longest), s.encoder.Model.Config().ContextLength)
}

// padded returns rows of ids as a tensor of a width, and their lengths.
func padded(rows [][]int, width int) (ids, lengths *tensor.Dense) {
	all, n := make([]int, len(rows)*width), make([]int, len(rows))
	for i, row := range rows {
		n[i] = copy(all[i*width:(i+1)*width], row)
	}
	return tensor.New(tensor.WithShape(len(rows), width), tensor.WithBacking(all)),
		tensor.New(tensor.WithShape(len(rows)), tensor.WithBacking(n))
}

// floats returns a vector of a type.
func floats(dt tensor.Dtype, x []float64) *tensor.Dense {
	if dt == tensor.Float64 {
		return tensor.New(tensor.WithShape(len(x)), tensor.WithBacking(slices.Clone(x)))
	}
	single := make([]float32, len(x))
	for i, v := range x {
		single[i] = float32(v)
	}
	return tensor.New(tensor.WithShape(len(x)), tensor.WithBacking(single))
}

// State returns the source's epoch and its position in it.
func (s *Batches) State() []byte {
	state := binary.BigEndian.AppendUint64(nil, s.epoch)
	return binary.BigEndian.AppendUint64(state, uint64(s.next))
}

// SetState continues from the position that State returned, over equal examples and with an equal config.
func (s *Batches) SetState(state []byte) error {
	if len(state) != 16 {
		return fmt.Errorf("encoders: batches: state: got %d bytes, want 16", len(state))
	}
	now := s.epoch
	s.epoch = binary.BigEndian.Uint64(state)
	plan, next := s.draw(), binary.BigEndian.Uint64(state[8:])
	if next > uint64(len(plan)) {
		s.epoch = now
		return fmt.Errorf("encoders: batches: state: got batch %d of %d: was it other data?", next, len(plan))
	}
	s.plan, s.next = plan, int(next)
	return nil
}
