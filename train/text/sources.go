package text

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"attention/internal/config"
	"attention/train"

	"gorgonia.org/tensor"
)

// SourcesConfig sets the batches of a run on a corpus.
type SourcesConfig struct {
	Windows     WindowConfig `json:"windows"`
	Order       string       `json:"order"`        // order of the windows to train on: RandomOrder or SequentialOrder
	WholeEpochs bool         `json:"whole_epochs"` // an epoch has every window once, not windows at random positions
	EvalBatches int          `json:"eval_batches"` // random batches of an evaluation during training; 0 means all windows
	Seed        int64        `json:"seed"`

	// Growth lists stages of shorter windows before those of Windows, in RandomOrder, as GrowingWindows yields them for
	// steps of Accumulate batches.
	Growth     []GrowthStage `json:"context_growth,omitempty"`
	Accumulate int           `json:"accumulate,omitempty"` // 0 means 1
}

// The orders of windows; "" is RandomOrder.
const (
	RandomOrder     = "random"
	SequentialOrder = "sequential"
)

// Validate returns an error for the first wrong field.
func (c SourcesConfig) Validate() error {
	return cmp.Or(config.In(c, "Windows", c.Windows.Validate()),
		config.OneOf(c, "Order", cmp.Or(c.Order, RandomOrder), RandomOrder, SequentialOrder),
		config.AtLeast(c, 0, "EvalBatches"), c.validateGrowth())
}

func (c SourcesConfig) validateGrowth() error {
	if len(c.Growth) > 0 && (c.WholeEpochs || c.Order == SequentialOrder) {
		return config.Errorf(c, "Growth", "got it for windows in order or in epochs, want it for random ones")
	}
	return c.growing().Validate()
}

func (c SourcesConfig) growing() GrowingConfig {
	return GrowingConfig{c.Windows, c.Growth, c.Accumulate}
}

// Sources returns three sources of batches: for training, for evaluations during training, and for the whole validation
// text. An evaluation during training is over EvalBatches random batches, the same each time, or over the whole text.
func (c *Corpus) Sources(of SourcesConfig) (training train.Resumable, validation, whole train.Source, err error) {
	if err := of.Validate(); err != nil {
		return nil, nil, nil, err
	}
	sequential := of.Order == SequentialOrder
	switch {
	case of.WholeEpochs:
		training, err = NewEpochs(c.Training, of.Windows, EpochsConfig{Shuffle: !sequential, Seed: uint64(of.Seed)})
	case sequential:
		training, err = NewCycle(c.Training, of.Windows)
	case len(of.Growth) > 0:
		training, err = NewGrowingWindows(c.Training, of.growing(), uint64(of.Seed))
	default:
		training, err = NewWindows(c.Training, of.Windows, uint64(of.Seed))
	}
	if err != nil {
		return nil, nil, nil, err
	}
	passes, err := NewPasses(c.Validation, of.Windows)
	if err != nil || of.EvalBatches == 0 {
		return training, passes, passes, err
	}
	validation, err = NewSample(c.Validation, of.Windows, ^uint64(of.Seed), of.EvalBatches)
	return training, validation, passes, err
}

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
