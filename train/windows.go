package train

import (
	"fmt"
	"math/rand/v2"
)

// WindowsConfig shapes random batches.
type WindowsConfig struct {
	Batch    int    `json:"batch"`     // B, windows a batch; at least 1
	Context  int    `json:"context"`   // T, positions a window; at least 1
	Seed     uint64 `json:"seed"`      // 0 is a seed like any other
	LastOnly bool   `json:"last_only"` // only the last target of each window counts, for models that see the whole window
}

// Windows is an endless source of random windows of a text. Each window begins
// at a position drawn evenly from all that leave room for it and its targets.
type Windows struct {
	ids    []int
	config WindowsConfig
	random *rand.PCG
	out    *windowBatch
}

// NewWindows makes a source over ids, which it keeps. Equal ids and configs give
// equal batches. A batch size or context below 1, and ids no longer than the
// context, are errors.
func NewWindows(ids []int, c WindowsConfig) (*Windows, error) {
	if err := checkWindows(ids, c.Batch, c.Context); err != nil {
		return nil, err
	}
	return &Windows{
		ids:    ids,
		config: c,
		random: rand.NewPCG(c.Seed, 0),
		out:    newWindowBatch(c.Batch, c.Context, c.LastOnly),
	}, nil
}

// Next returns B new windows. It never returns an error. The tensors are the
// same each time with new contents: copy what must outlive the next call.
func (w *Windows) Next() (Batch, error) {
	starts := uint64(len(w.ids) - w.config.Context)
	draw := rand.New(w.random)
	w.out.batch.Tokens = 0
	for b := range w.config.Batch {
		w.out.set(b, int(draw.Uint64N(starts)), w.ids)
	}
	return w.out.batch, nil
}

// State returns where the random stream stands.
func (w *Windows) State() []byte {
	state, _ := w.random.MarshalBinary() // a PCG is two numbers: this cannot fail
	return state
}

// SetState continues the stream of a source whose State returned state: over
// the same ids and with the same batch size and context, the same batches follow.
func (w *Windows) SetState(state []byte) error {
	if err := w.random.UnmarshalBinary(state); err != nil {
		return fmt.Errorf("train: windows: state of %d bytes: %w", len(state), err)
	}
	return nil
}
