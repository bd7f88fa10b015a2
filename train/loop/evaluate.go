package loop

import (
	"context"
	"errors"
	"fmt"

	"attention/layers"
	"attention/train"
)

// Evaluate returns the mean loss over all of a source's targets that count, in a graph
// without dropout. It reads the source up to io.EOF, which an endless one never returns,
// and changes neither the parameters nor the steps to come. If an error or a context
// that is done stops it, a Resumable source is set back to its position before; another
// source stays where it is.
func (l *Loop) Evaluate(ctx context.Context, s train.Source) (Evaluation, error) {
	if ctx == nil {
		return Evaluation{}, errNoContext
	}
	if s == nil {
		return Evaluation{}, errors.New("train: source to evaluate on: got nil, want one")
	}
	if err := l.PrepareEval(); err != nil {
		return Evaluation{}, err
	}
	resumable, ok := s.(train.Resumable)
	var before []byte
	if ok {
		before = resumable.State()
	}
	mean, tokens, err := l.eval.Run(ctx, s)
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

// PrepareEval builds the evaluation graph, once; otherwise the first evaluation does. Memory counts it from then on.
func (l *Loop) PrepareEval() error {
	if l.eval != nil {
		return nil
	}
	b, cost, err := l.build(layers.Eval)
	if err != nil {
		return err
	}
	l.eval, err = train.NewEvaluator(b, cost, l.config.Group)
	return err
}
