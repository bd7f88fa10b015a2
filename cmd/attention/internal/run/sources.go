package run

import (
	"errors"
	"io"

	"attention/train"
	"attention/train/text"
)

// Sources returns the batches to train on and those of the whole validation text. With lastOnly, only the token after
// a window is a target.
func (c *Corpus) Sources(r Config, lastOnly bool) (training train.Resumable, validation train.Source, err error) {
	windows := text.WindowConfig{Batch: r.Batch, Context: r.Model.context(), LastOnly: lastOnly}
	if r.Order == sequentialOrder {
		training, err = text.NewCycle(c.Training, windows)
	} else {
		training, err = text.NewWindows(c.Training, windows, uint64(r.Training.Seed))
	}
	if err != nil {
		return nil, nil, err
	}
	var passes oneAfterAnother
	for shift := range shifts(len(c.Validation), r.Model.context(), lastOnly) {
		s, err := text.NewEpoch(c.Validation[shift:], windows)
		if err != nil {
			return nil, nil, err
		}
		passes.sources = append(passes.sources, s)
	}
	return training, &passes, nil
}

// Sampled returns the batches of the evaluations during training: EvalBatches random batches of the validation split,
// the same each time, or the whole split if EvalBatches is 0.
func (c *Corpus) Sampled(r Config, lastOnly bool, whole train.Source) (train.Source, error) {
	if r.EvalBatches == 0 {
		return whole, nil
	}
	w, err := text.NewWindows(c.Validation, text.WindowConfig{
		Batch: r.Batch, Context: r.Model.context(), LastOnly: lastOnly}, ^uint64(r.Training.Seed))
	if err != nil {
		return nil, err
	}
	return &firstBatches{windows: w, begin: w.State(), n: r.EvalBatches}, nil
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
func shifts(n, context int, lastOnly bool) int {
	if !lastOnly {
		return 1
	}
	return min(context, maxShifts, n-context)
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
