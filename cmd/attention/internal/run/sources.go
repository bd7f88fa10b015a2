package run

import (
	"attention/train"
	"attention/train/text"
)

// Sources returns the batches to train on, those of the evaluations during training and those of the whole validation
// split. An evaluation during training is over EvalBatches random batches, the same each time, or over the whole split
// if EvalBatches is 0.
func (c *Corpus) Sources(r Config) (training train.Resumable, validation, whole train.Source, err error) {
	windows := r.Windows()
	if r.Epochs > 0 {
		training, err = text.NewEpochs(c.Training, windows, r.epochs())
	} else if r.Order == sequentialOrder {
		training, err = text.NewCycle(c.Training, windows)
	} else {
		training, err = text.NewWindows(c.Training, windows, uint64(r.Training.Seed))
	}
	if err != nil {
		return nil, nil, nil, err
	}
	passes, err := text.NewPasses(c.Validation, windows)
	if err != nil || r.EvalBatches == 0 {
		return training, passes, passes, err
	}
	validation, err = text.NewSample(c.Validation, windows, ^uint64(r.Training.Seed), r.EvalBatches)
	return training, validation, passes, err
}

func (c Config) epochs() text.EpochsConfig {
	return text.EpochsConfig{Shuffle: c.Order != sequentialOrder, Seed: uint64(c.Training.Seed)}
}

// epochSteps returns the steps of all epochs, at least 1.
func (c Config) epochSteps(k *Corpus) (int, error) {
	e, err := text.NewEpochs(k.Training, c.Windows(), c.epochs())
	if err != nil {
		return 0, err
	}
	return max(1, c.Epochs*e.Batches()/c.Training.Accumulate), nil
}

// Windows returns the windows of the batches. Only the token after a window is a target of a model that is not causal.
func (c Config) Windows() text.WindowConfig {
	return text.WindowConfig{Batch: c.Batch, Context: c.Model.Context(), LastOnly: !c.Model.Causal()}
}

// The orders of the windows to train on, for --order.
const (
	RandomOrder     = "random"
	sequentialOrder = "sequential"
)
