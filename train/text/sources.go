package text

import (
	"cmp"

	"attention/internal/config"
	"attention/train"
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
