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
