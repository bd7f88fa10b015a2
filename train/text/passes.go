package text

import (
	"errors"
	"io"

	"attention/train"
)

// Passes reads a whole text as one evaluation. With LastOnly a single pass would have few targets, so Passes makes
// several passes, each of which begins one token later.
type Passes struct {
	epochs []*Epoch
	at     int
}

// mostPasses is the largest number of passes of an evaluation.
const mostPasses = 8

// NewPasses returns a source over ids, which must not change. It returns the errors of NewEpoch.
func NewPasses(ids []int, c WindowConfig) (*Passes, error) {
	n := 1
	if c.LastOnly {
		n = max(1, min(c.Context, mostPasses, len(ids)-c.Context))
	}
	p := &Passes{}
	for shift := range n {
		e, err := NewEpoch(ids[shift:], c)
		if err != nil {
			return nil, err
		}
		p.epochs = append(p.epochs, e)
	}
	return p, nil
}

// Next returns the next windows, or io.EOF after the last ones; the call after that begins again.
func (p *Passes) Next() (train.Batch, error) {
	for ; p.at < len(p.epochs); p.at++ {
		if b, err := p.epochs[p.at].Next(); !errors.Is(err, io.EOF) {
			return b, err
		}
	}
	p.at = 0
	return train.Batch{}, io.EOF
}

// Sample is a source that yields the same first batches of random windows in each evaluation.
type Sample struct {
	windows *Windows
	begin   []byte
	n, at   int
}

// NewSample returns a source of the first n batches that NewWindows yields.
func NewSample(ids []int, c WindowConfig, seed uint64, n int) (*Sample, error) {
	w, err := NewWindows(ids, c, seed)
	if err != nil {
		return nil, err
	}
	return &Sample{windows: w, begin: w.State(), n: n}, nil
}

// Next returns the next windows, or io.EOF after the n-th batch; the call after that begins again.
func (s *Sample) Next() (train.Batch, error) {
	if s.at == s.n {
		s.at = 0
		if err := s.windows.SetState(s.begin); err != nil {
			return train.Batch{}, err
		}
		return train.Batch{}, io.EOF
	}
	s.at++
	return s.windows.Next()
}

// Cycle is an endless source of a text's windows in order: row b of batch i is the window that begins at (i·B + b)·T,
// in a text whose end is followed by its beginning. It uses no random numbers.
type Cycle struct {
	next int // first input of the next batch
	out  *windowBatch
}

// NewCycle returns a source over ids, which must not change. A batch size or context below 1 and ids no longer than the
// context are errors.
func NewCycle(ids []int, c WindowConfig) (*Cycle, error) {
	out, err := newWindowBatch(ids, c)
	if err != nil {
		return nil, err
	}
	return &Cycle{out: out}, nil
}

// Next returns the next B windows. It never returns an error. The tensors are reused: copy values that must outlive the
// next call.
func (c *Cycle) Next() (train.Batch, error) {
	c.out.batch.Tokens = 0
	for b := range c.out.config.Batch {
		c.out.setAround(b, c.next)
		c.next = (c.next + c.out.config.Context) % len(c.out.ids)
	}
	return c.out.batch, nil
}

// State returns the source's position in its text.
func (c *Cycle) State() []byte {
	return encodePosition(c.next)
}

// SetState moves the source to a position that State returned, over equal ids and with an equal config.
func (c *Cycle) SetState(state []byte) error {
	return decodePosition(&c.next, state, len(c.out.ids))
}
