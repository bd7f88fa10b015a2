package loop

import (
	"context"
	"errors"
	"fmt"

	"attention/train"
)

// Evaluate returns the mean loss over all targets of a source that are not ignored, without dropout. It reads the
// source up to io.EOF, so the source must not be endless, and changes neither the parameters nor later steps. If an
// error or the context stops Evaluate, a Resumable source returns to its earlier position; another source does not.
func (l *Loop) Evaluate(ctx context.Context, s train.Source) (Evaluation, error) {
	if ctx == nil {
		return Evaluation{}, errNoContext
	}
	if s == nil {
		return Evaluation{}, errors.New("train: source to evaluate on: got nil, want one")
	}
	resumable, ok := s.(train.Resumable)
	var before []byte
	if ok {
		before = resumable.State()
	}
	mean, tokens, err := train.Evaluate(ctx, l.eval, s, l.config.Group)
	if isStop(err) {
		err = fmt.Errorf("stopped: %w", err)
	}
	if err != nil {
		if ok {
			if back := resumable.SetState(before); back != nil {
				err = fmt.Errorf("%w; setting the source back: %w", err, back)
			}
		}
		return Evaluation{}, fmt.Errorf("train: evaluation after %d steps: %w", l.Steps(), err)
	}
	e := Evaluation{Step: l.Steps(), Loss: mean, Tokens: tokens}
	if l.best.used {
		e.Step = l.best.Step
	}
	return e, nil
}
