package text

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"attention/graph"
	"attention/internal/config"
	"attention/train"
)

// Names of the inputs of a batch of packed rows, besides Inputs and Targets.
const (
	Segments  = "segments"  // (B, T) the number of each token's example in its row
	Positions = "positions" // (B, T) the position of each token in its example
)

// Treatments of a lesson that is longer than a row.
const (
	CutLong  = "cut"  // the lesson is truncated
	SkipLong = "skip" // the lesson is left out
)

// PackConfig sets how lessons are packed into rows.
type PackConfig struct {
	Batch   int    `json:"batch"`   // B, rows of a batch; at least 1
	Context int    `json:"context"` // T, tokens of a row; at least 2
	Long    string `json:"long"`    // CutLong or SkipLong; "" means CutLong
	Alone   bool   `json:"alone"`   // one lesson per row, for models that cannot share rows
	Shuffle bool   `json:"shuffle"` // each epoch has other rows in another order
	Once    bool   `json:"once"`    // an epoch ends with io.EOF, after which the next one begins
	Seed    uint64 `json:"seed"`
}

// Validate returns an error that names the first wrong field.
func (c PackConfig) Validate() error {
	return cmp.Or(WindowConfig{Batch: c.Batch, Context: c.Context}.Validate(), config.AtLeast(c, 2, "Context"),
		config.OneOf(c, "Long", cmp.Or(c.Long, CutLong), CutLong, SkipLong))
}

// PackSummary describes the rows of an epoch.
type PackSummary struct {
	Examples, Tokens, Learned int
	Longest                   int     // tokens of the longest example
	Rows, Batches             int     // of the first epoch
	Fill                      float64 // the fraction of the rows' positions that hold a token
	Cut, Skipped              int     // examples that were too long
	NothingLeft               int     // of the truncated ones, examples without learned tokens, which are also left out
	Unlearned                 int     // conversations with answers that are not learned (AssistantSpan.Changed)
}

// Packed is a Resumable source of rows that hold several examples each. The examples of a row do not see each other: a
// model's PackedLoss takes Segments and Positions. Examples are read from their file again for each batch; the memory
// holds only one number per example.
type Packed struct {
	config  PackConfig
	file    *Examples
	lessons *Lessons
	summary PackSummary
	lengths []int32 // lengths of the examples' lessons; 0 for one that is left out
	rows    [][]int32
	all     train.Values // the additional inputs of batches with shared rows
	batch   train.Batch
	epoch   uint64
	next    int // number of the epoch's next row
}

// NewPacked reads each example once to count its tokens, unless ctx ends first.
func NewPacked(ctx context.Context, e *Examples, l *Lessons, c PackConfig) (*Packed, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("text: packing: %w", err)
	}
	if ctx == nil || e == nil || l == nil {
		return nil, errors.New("text: packing: got nil, want a context, examples and lessons")
	}
	c.Long = cmp.Or(c.Long, CutLong)
	p := &Packed{config: c, file: e, lessons: l, lengths: make([]int32, e.Len())}
	for i := range p.lengths {
		if err := cmp.Or(context.Cause(ctx), p.measure(ctx, i)); err != nil {
			return nil, err
		}
	}
	s := &p.summary
	if s.NothingLeft > s.Examples {
		return nil, p.errNothingLeft(ctx)
	}
	if s.Examples == 0 {
		return nil, fmt.Errorf("text: packing: got no example of at most %d tokens, want one", c.Context)
	}
	return p, p.Reshape(c.Batch, c.Context)
}

// Summary describes the rows of an epoch.
func (p *Packed) Summary() PackSummary { return p.summary }

// lesson returns the lesson of an example, truncated to a row.
func (p *Packed) lesson(ctx context.Context, i int) (lesson Lesson, whole bool, err error) {
	example, err := p.file.At(i)
	if err != nil {
		return lesson, false, err
	}
	if lesson, whole, err = p.lessons.Of(ctx, example); err != nil {
		return lesson, false, p.file.about(i, err)
	}
	return lesson, whole, nil
}

// cut truncates a lesson to a row.
func (p *Packed) cut(l Lesson) Lesson {
	n := min(len(l.IDs), p.config.Context)
	if l.Learned == nil { // the token that ends it is kept
		l.IDs = append(l.IDs[:n-1:n-1], l.IDs[len(l.IDs)-1])
		return l
	}
	return Lesson{IDs: l.IDs[:n], Learned: l.Learned[:n]}
}

// measure adds an example to the summary.
func (p *Packed) measure(ctx context.Context, i int) error {
	lesson, whole, err := p.lesson(ctx, i)
	if err != nil {
		return err
	}
	s := &p.summary
	if len(lesson.IDs) > p.config.Context {
		if p.config.Long == SkipLong {
			s.Skipped++
			return nil
		}
		s.Cut++
		if lesson = p.cut(lesson); lesson.count() == 0 {
			s.NothingLeft++
			return nil
		}
	}
	if !whole {
		s.Unlearned++
	}
	s.Examples, s.Tokens, s.Learned = s.Examples+1, s.Tokens+len(lesson.IDs), s.Learned+lesson.count()
	s.Longest = max(s.Longest, len(lesson.IDs))
	p.lengths[i] = int32(len(lesson.IDs))
	return nil
}

// Next returns the next B rows; the last rows of an epoch may be empty. The next call reuses the tensors: copy values
// that must outlive it.
func (p *Packed) Next() (train.Batch, error) {
	if p.next >= len(p.rows) {
		p.epoch, p.next = p.epoch+1, 0
		p.arrange()
		if p.config.Once {
			return train.Batch{}, io.EOF
		}
	}
	p.batch.Tokens = 0
	for b := range p.config.Batch {
		var row []int32
		if p.next+b < len(p.rows) {
			row = p.rows[p.next+b]
		}
		if err := p.fill(b, row); err != nil {
			return train.Batch{}, err
		}
	}
	p.next += p.config.Batch
	return p.batch, nil
}

// fill fills row b with examples. The rest of the row is a separate segment without targets.
func (p *Packed) fill(b int, row []int32) error {
	T := p.config.Context
	part := func(name string) []int { return p.all[name].Ints()[b*T : (b+1)*T] }
	inputs, targets, segments, positions := part(Inputs), part(Targets), part(Segments), part(Positions)
	at := 0
	for segment, i := range row {
		lesson, _, err := p.lesson(context.Background(), int(i))
		if err != nil {
			return err
		}
		lesson = p.cut(lesson)
		if len(lesson.IDs) != int(p.lengths[i]) {
			return p.file.about(int(i), errors.New("got another example than before: was the file changed?"))
		}
		for j, id := range lesson.IDs {
			inputs[at], segments[at], positions[at], targets[at] = id, segment, j, graph.IgnoreTarget
			last := j+1 == len(lesson.IDs)
			switch {
			case last && lesson.Learned == nil:
				targets[at] = lesson.Class
				p.batch.Tokens++
			case !last && lesson.Learned != nil && lesson.Learned[j+1]:
				targets[at] = lesson.IDs[j+1]
				p.batch.Tokens++
			}
			at++
		}
	}
	for j := 0; at < T; j++ {
		inputs[at], segments[at], positions[at], targets[at] = 0, len(row), j, graph.IgnoreTarget
		at++
	}
	return nil
}

// State returns the source's epoch and its position in it.
func (p *Packed) State() []byte {
	return binary.BigEndian.AppendUint64(encodePosition(p.next), p.epoch)
}

// SetState moves the source to a position that State returned, over equal examples and with equal configs.
func (p *Packed) SetState(state []byte) error {
	if len(state) != 16 {
		return fmt.Errorf("text: state of a source: got %d bytes, want 16", len(state))
	}
	epoch := p.epoch
	p.epoch = binary.BigEndian.Uint64(state[8:])
	p.arrange()
	if err := decodePosition(&p.next, state[:8], len(p.rows)+p.config.Batch); err != nil {
		p.epoch = epoch
		p.arrange()
		return err
	}
	return nil
}
