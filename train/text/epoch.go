package text

import (
	"io"

	"attention/train"
)

// Epoch reads a whole text once in windows that do not overlap, in order: window w has the inputs w·T … w·T+T−1 and the
// targets one further. All batches have the same shape: the last one is padded with graph.IgnoreTarget as targets, so
// that every target counts once (with LastOnly the last target of every whole window).
type Epoch struct {
	next int // first input of the next batch
	out  *windowBatch
}

// NewEpoch returns a source over ids, which must not change. A batch size or context below 1 and ids no longer than the
// context are errors.
func NewEpoch(ids []int, c WindowConfig) (*Epoch, error) {
	out, err := newWindowBatch(ids, c)
	if err != nil {
		return nil, err
	}
	return &Epoch{out: out}, nil
}

// Next returns the next windows, or io.EOF after the last ones; the call after that begins a new epoch. The tensors are
// reused: copy values that must outlive the next call.
func (e *Epoch) Next() (train.Batch, error) {
	e.out.batch.Tokens = 0
	for b := range e.out.config.Batch {
		e.out.set(b, e.next)
		e.next += e.out.config.Context
	}
	if e.out.batch.Tokens == 0 {
		e.next = 0
		return train.Batch{}, io.EOF
	}
	return e.out.batch, nil
}

// State returns the source's position in its text.
func (e *Epoch) State() []byte {
	return encodePosition(e.next)
}

// SetState moves the source to a position that State returned, over equal ids and with an equal config.
func (e *Epoch) SetState(state []byte) error {
	return decodePosition(&e.next, state, len(e.out.ids)+len(e.out.inputs))
}
