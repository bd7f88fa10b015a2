package text

import (
	"fmt"
	"math/rand/v2"

	"attention/train"

	"gorgonia.org/tensor"
)

// Windows is an endless source of random windows of a text. The first position of each window is uniformly distributed
// over all positions at which the window and its targets fit.
type Windows struct {
	random *rand.PCG
	out    *windowBatch
}

// NewWindows returns a source over ids, which must not change. Equal ids, configs and seeds give equal batches. A batch
// size or context below 1 and ids no longer than the context are errors.
func NewWindows(ids []int, c WindowConfig, seed uint64) (*Windows, error) {
	out, err := newWindowBatch(ids, c)
	if err != nil {
		return nil, err
	}
	return &Windows{random: rand.NewPCG(seed, 0), out: out}, nil
}

// Next returns B new windows. It never returns an error. The tensors are reused: copy values that must outlive the next
// call.
func (w *Windows) Next() (train.Batch, error) { return w.next(w.out.config.Context), nil }

// next returns a batch of as many windows of n tokens as fit.
func (w *Windows) next(n int) train.Batch {
	for name, ids := range map[string][]int{Inputs: w.out.inputs, Targets: w.out.targets} {
		if in := w.out.batch.Inputs; in[name].Shape()[1] != n {
			in[name] = tensor.New(tensor.WithShape(len(ids)/n, n), tensor.WithBacking(ids))
		}
	}
	starts := uint64(len(w.out.ids) - n)
	draw := rand.New(w.random)
	w.out.batch.Tokens = 0
	for i := range len(w.out.inputs) / n {
		w.out.setPart(i, n, int(draw.Uint64N(starts)))
	}
	return w.out.batch
}

// State returns the state of the random stream.
func (w *Windows) State() []byte {
	state, _ := w.random.MarshalBinary() // a PCG's state is two numbers: this cannot fail
	return state
}

// SetState restores a state that State returned: over equal ids and with an equal config, the same batches follow.
func (w *Windows) SetState(state []byte) error {
	if err := w.random.UnmarshalBinary(state); err != nil {
		return fmt.Errorf("text: windows: state of %d bytes: %w", len(state), err)
	}
	return nil
}
