package text

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"

	"attention/train"
)

// EpochsConfig sets the order of the windows of Epochs.
type EpochsConfig struct {
	Shuffle bool   `json:"shuffle"` // each epoch has its own order
	Seed    uint64 `json:"seed"`    // of these orders
}

// Epochs is an endless source of a text's windows that do not overlap: window w has the inputs w·T … w·T+T−1 and the
// targets shifted by one. Each epoch has every whole window once, except the last windows if they do not fill a batch
// (torch.utils.data.DataLoader with drop_last).
type Epochs struct {
	config EpochsConfig
	out    *windowBatch
	epoch  uint64
	next   int   // number of the epoch's next window
	order  []int // order of the epoch's windows
}

// NewEpochs returns a source over ids, which must not change. Equal ids and configs give equal batches. A batch size or
// context below 1 and ids with fewer windows than a batch are errors.
func NewEpochs(ids []int, windows WindowConfig, c EpochsConfig) (*Epochs, error) {
	out, err := newWindowBatch(ids, windows)
	if err != nil {
		return nil, err
	}
	n := (len(ids) - 1) / windows.Context
	if n < windows.Batch {
		return nil, fmt.Errorf("text: epochs: got %d windows of %d, want at least the %d of a batch", n, windows.Context,
			windows.Batch)
	}
	e := &Epochs{config: c, out: out, order: make([]int, n)}
	e.arrange()
	return e, nil
}

// Batches returns the number of batches of an epoch.
func (e *Epochs) Batches() int {
	return len(e.order) / e.out.config.Batch
}

// arrange sets the order of the epoch, which depends only on its number and the seed.
func (e *Epochs) arrange() {
	for i := range e.order {
		e.order[i] = i
	}
	if e.config.Shuffle {
		r := rand.New(rand.NewPCG(e.config.Seed, e.epoch))
		r.Shuffle(len(e.order), func(i, j int) { e.order[i], e.order[j] = e.order[j], e.order[i] })
	}
}

// Next returns the next B windows. It never returns an error. The tensors are reused: copy values that must outlive the
// next call.
func (e *Epochs) Next() (train.Batch, error) {
	c := e.out.config
	if len(e.order)-e.next < c.Batch {
		e.epoch, e.next = e.epoch+1, 0
		e.arrange()
	}
	e.out.batch.Tokens = 0
	for b := range c.Batch {
		e.out.set(b, e.order[e.next+b]*c.Context)
	}
	e.next += c.Batch
	return e.out.batch, nil
}

// State returns the source's epoch and its position in it.
func (e *Epochs) State() []byte {
	return binary.BigEndian.AppendUint64(encodePosition(e.next), e.epoch)
}

// SetState moves the source to a position that State returned, over equal ids and with equal configs.
func (e *Epochs) SetState(state []byte) error {
	if len(state) != 16 {
		return fmt.Errorf("text: state of a source: got %d bytes, want 16", len(state))
	}
	if err := decodePosition(&e.next, state[:8], len(e.order)+1); err != nil {
		return err
	}
	e.epoch = binary.BigEndian.Uint64(state[8:])
	e.arrange()
	return nil
}

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
