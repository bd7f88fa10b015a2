package train

import (
	"encoding/binary"
	"fmt"
)

// Consecutive is an endless source of a text's windows in order: row b of batch i is
// the window that begins at (i·B + b)·T, in a text whose end is followed by its
// beginning. Nothing about it is random.
type Consecutive struct {
	ids    []int
	config SequentialConfig
	next   int // first input of the next batch
	out    *windowBatch
}

// NewConsecutive makes a source over ids, which it keeps. A batch size or context
// below 1 and ids no longer than the context are errors.
func NewConsecutive(ids []int, c SequentialConfig) (*Consecutive, error) {
	if err := checkWindows(ids, c.Batch, c.Context); err != nil {
		return nil, err
	}
	return &Consecutive{ids: ids, config: c, out: newWindowBatch(c.Batch, c.Context, c.LastOnly)}, nil
}

// Next returns the next B windows. It never returns an error. The tensors are the
// same each time with new contents: copy what must outlive the next call.
func (c *Consecutive) Next() (Batch, error) {
	c.out.batch.Tokens = 0
	for b := range c.config.Batch {
		c.out.setAround(b, c.next, c.ids)
		c.next = (c.next + c.config.Context) % len(c.ids)
	}
	return c.out.batch, nil
}

// State returns where the source stands in its text.
func (c *Consecutive) State() []byte { return stateOf(c.next) }

// SetState goes on where a source stood whose State returned state, over the same
// ids and with the same batch size and context.
func (c *Consecutive) SetState(state []byte) (err error) {
	c.next, err = positionIn(state, c.next, len(c.ids))
	return err
}

// stateOf is a position in a text as 8 bytes.
func stateOf(position int) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(position))
}

// positionIn reads what stateOf wrote, a number below limit; with an error it
// returns the position that there was before.
func positionIn(state []byte, before, limit int) (int, error) {
	if len(state) != 8 {
		return before, fmt.Errorf("train: state of a source: got %d bytes, want 8", len(state))
	}
	position := binary.BigEndian.Uint64(state)
	if position >= uint64(limit) {
		return before, fmt.Errorf("train: state of a source: got position %d, want one below %d: was it another text?", position, limit)
	}
	return int(position), nil
}
