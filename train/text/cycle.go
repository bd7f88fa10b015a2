package text

import "attention/train"

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
