// Package encoders trains encoders on pairs of texts, texts with labels, and texts whose tokens are masked: sources of
// batches, losses and measures. The forms of examples, losses and measures are those of sentence-transformers and
// transformers.
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

	"attention/internal/config"
	"attention/train"
	"attention/train/pretrained"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// Examples are examples to learn from, such as a text.Examples or a List.
type Examples interface {
	Len() int
	At(i int) (text.Example, error) // the error says where it stands
	Where(i int) string             // where example i stands, for errors
}

// List is Examples in memory.
type List []text.Example

// Len returns the number of examples.
func (l List) Len() int { return len(l) }

// At returns example i, counted from 0.
func (l List) At(i int) (text.Example, error) {
	if i < 0 || i >= len(l) {
		return text.Example{}, fmt.Errorf("encoders: got example %d, want 0 to %d", i, len(l)-1)
	}
	return l[i], nil
}

// Where returns the number of an example, counted from 1.
func (l List) Where(i int) string { return fmt.Sprintf("encoders: example %d", i+1) }

// Config sets the batches of a source.
type Config struct {
	Batch     int    `json:"batch"`      // B, the most examples of a batch; at least 1
	MaxLength int    `json:"max_length"` // the most tokens of a text; 0 means those of the encoder
	Shuffle   bool   `json:"shuffle"`    // each epoch has other batches in another order
	Once      bool   `json:"once"`       // an epoch ends with io.EOF, after which the next one begins
	Seed      uint64 `json:"seed"`       // of the orders and the masks
	// Classes are the labels of texts, as of the encoder's Classifier. With Classes examples are texts with one of them.
	Classes []string `json:"classes,omitempty"`
	Masked  bool     `json:"masked,omitempty"` // examples are texts, whose tokens are masked for the encoder's MaskedLM
}

// Validate returns an error that names the first wrong field.
func (c Config) Validate() error {
	err := cmp.Or(config.AtLeast(c, 1, "Batch"), config.AtLeast(c, 0, "MaxLength"))
	if err == nil && c.Masked && c.Classes != nil {
		err = config.Errorf(c, "Masked", "got true with %s, want one of them", config.Field("Classes"))
	}
	return err
}

// alone reports whether an example is one text.
func (c Config) alone() bool { return c.Masked || c.Classes != nil }

// textsOf returns the texts of an example.
func (c Config) textsOf(e text.Example) []string {
	if c.alone() && e.Texts == nil && e.Messages == nil {
		return []string{e.Text}
	}
	return e.Texts
}

// Summary describes the batches of the first epoch.
type Summary struct {
	Examples int
	Texts    int // of an example: 2, 3 with a negative, or 1 with a label or masked tokens
	Scored   bool
	Tokens   int     // of all texts, cut ones as they are cut
	Cut      int     // texts that were too long
	Longest  int     // tokens of the longest text, cut if it was too long
	Batches  int     // of the first epoch
	Fill     float64 // the share of the batches' places that hold a token
}

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
	}
	if err := s.check(e); err != nil {
		return fmt.Errorf("%s: %w", s.examples.Where(i), err)
	}
	whole, longest := s.encoder, s.encoder.Sentence.MaxLength
	whole.Sentence.MaxLength = math.MaxInt
	for k, t := range s.config.textsOf(e) {
		ids, err := whole.IDs(t)
		if err == nil && len(ids) == 0 {
			err = errors.New("got a text without tokens, want one with some")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.examples.Where(i), err)
		}
		n := min(len(ids), longest)
		if n < len(ids) {
			s.summary.Cut++
		}
		s.rows[i].hashes[k], s.rows[i].lengths[k] = maphash.String(seed, t), int32(n)
		s.summary.Tokens += n
		s.summary.Longest = max(s.summary.Longest, n)
	}
	return nil
}

// check returns an error for an example that is not of the form of the first.
func (s *Batches) check(e text.Example) error {
	of := s.summary
	if s.config.alone() {
		switch {
		case len(s.config.textsOf(e)) != 1:
			return errors.New("got no text, want one")
		case s.config.Masked || slices.Contains(s.config.Classes, e.Label):
			return nil
		case e.Label == "":
			return text.ErrNoLabel
		}
		return fmt.Errorf("label: got %.60q, want one of the %d that are learned", e.Label, len(s.config.Classes))
	}
	form := func(texts int, scored bool) string {
		switch {
		case scored:
			return "two texts and a score"
		case texts == 0:
			return "no pair of texts"
		}
		return []string{"an anchor and a positive", "an anchor, a positive and a negative"}[texts-2]
	}
	if n := len(e.Texts); n != 0 && (n < 2 || n > 3) || e.Score != nil && n != 2 {
		return fmt.Errorf("got %d texts, want two, or three without a score", n)
	}
	got := form(len(e.Texts), e.Score != nil)
	switch {
	case len(e.Texts) == 0:
		return fmt.Errorf("got %s, want an anchor and a positive, or two sentences and a score", got)
	case len(e.Texts) != of.Texts || (e.Score != nil) != of.Scored:
		return fmt.Errorf("got %s, want %s as in the first example", got, form(of.Texts, of.Scored))
	case e.Score != nil && *e.Score-*e.Score != 0:
		return fmt.Errorf("score: got %v, want a finite number", *e.Score)
	}
	return nil
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
	for i, at := range b {
		e, err := s.examples.At(int(at))
		texts := s.config.textsOf(e)
		if err == nil && len(texts) != len(columns) {
			err = fmt.Errorf("%s: got another example than before: was the file changed?", s.examples.Where(int(at)))
		}
		if err != nil {
			return train.Batch{}, err
		}
		if e.Score != nil {
			scores[i] = *e.Score
		}
		labels[i] = slices.Index(s.config.Classes, e.Label)
		for k, t := range texts {
			ids, err := s.encoder.IDs(t)
			if err != nil {
				return train.Batch{}, fmt.Errorf("%s: %w", s.examples.Where(int(at)), err)
			}
			columns[k] = append(columns[k], ids)
		}
	}
	tokens := len(b)
	if s.config.Masked {
		values[Rows], values[Targets], tokens = s.mask(columns[0], b, s.width(b, 0))
	}
	if s.config.Classes != nil {
		values[Labels] = tensor.New(tensor.WithShape(len(b)), tensor.WithBacking(labels))
	}
	for k, rows := range columns {
		values[IDs(k)], values[Lengths(k)] = padded(rows, s.width(b, k))
	}
	if s.summary.Scored {
		values[Scores] = floats(s.encoder.Params.Dtype(), scores)
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
