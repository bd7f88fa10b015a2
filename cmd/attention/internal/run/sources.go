package run

import (
	"errors"
	"io"

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
	var passes oneAfterAnother
	for shift := range shifts(len(c.Validation), windows) {
		s, err := text.NewEpoch(c.Validation[shift:], windows)
		if err != nil {
			return nil, nil, nil, err
		}
		passes.sources = append(passes.sources, s)
	}
	if r.EvalBatches == 0 {
		return training, &passes, &passes, nil
	}
	w, err := text.NewWindows(c.Validation, windows, ^uint64(r.Training.Seed))
	if err != nil {
		return nil, nil, nil, err
	}
	return training, &firstBatches{windows: w, begin: w.State(), n: r.EvalBatches}, &passes, nil
}

func (r Config) epochs() text.EpochsConfig {
	return text.EpochsConfig{Shuffle: r.Order != sequentialOrder, Seed: uint64(r.Training.Seed)}
}

// epochSteps returns the steps of all epochs, at least 1.
func (r Config) epochSteps(c *Corpus) (int, error) {
	e, err := text.NewEpochs(c.Training, r.Windows(), r.epochs())
	if err != nil {
		return 0, err
	}
	return max(1, r.Epochs*e.Batches()/r.Training.Accumulate), nil
}

// Windows returns the windows of the batches. Only the token after a window is a target of a model that is not causal.
func (r Config) Windows() text.WindowConfig {
	return text.WindowConfig{Batch: r.Batch, Context: r.Model.Context(), LastOnly: !r.Model.Causal()}
}

// firstBatches yields the first n batches of windows, again and again.
type firstBatches struct {
	windows *text.Windows
	begin   []byte
	n, at   int
}

func (f *firstBatches) Next() (train.Batch, error) {
	if f.at == f.n {
		f.at = 0
		if err := f.windows.SetState(f.begin); err != nil {
			return train.Batch{}, err
		}
		return train.Batch{}, io.EOF
	}
	f.at++
	return f.windows.Next()
}

// maxShifts limits the work of a validation.
const maxShifts = 8

// shifts returns the number of passes that a validation makes over n ids, each beginning one id later: when only the
// last target of a window counts, one pass has few.
func shifts(n int, w text.WindowConfig) int {
	if !w.LastOnly {
		return 1
	}
	return min(w.Context, maxShifts, n-w.Context)
}

// oneAfterAnother yields the batches of several sources in turn, as one evaluation.
type oneAfterAnother struct {
	sources []*text.Epoch
	at      int
}

func (o *oneAfterAnother) Next() (train.Batch, error) {
	for ; o.at < len(o.sources); o.at++ {
		if b, err := o.sources[o.at].Next(); !errors.Is(err, io.EOF) {
			return b, err
		}
	}
	o.at = 0
	return train.Batch{}, io.EOF
}

// The orders of the windows to train on, for --order.
const (
	RandomOrder     = "random"
	sequentialOrder = "sequential"
)
