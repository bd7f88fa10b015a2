package train

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Run takes the steps that are left of Config.Steps, each with the next batches of
// train, which must not end before. It evaluates on eval, unless that is nil, after
// every Config.EvalEvery steps and after the last one.
//
// After SaveTo, train must be Resumable. Run then saves after every
// CheckpointsConfig.Every steps, after the last one, and when it is stopped: a
// checkpoint comes after the evaluation of the same step.
//
// A context that is done stops it between two steps, or in an evaluation, with the
// context's error; Run may be called again to resume. After any other error nothing is
// saved: what was saved before stays.
func (l *Loop) Run(ctx context.Context, train, eval Source) error {
	if train == nil {
		return errors.New("train: source to train on: got nil, want one")
	}
	saved, ok := train.(Resumable)
	if l.saves != nil && !ok {
		return fmt.Errorf("train: source to train on: got a %T, want a Resumable one: a checkpoint has to hold where it stands", train)
	}
	if eval != nil { // a loss that cannot be evaluated should fail before the first step
		if err := l.prepareEval(); err != nil {
			return err
		}
	}
	err := l.runSteps(ctx, train, eval, saved)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = errors.Join(err, l.saveCheckpoint(saved))
	}
	return err
}

func (l *Loop) runSteps(ctx context.Context, train, eval Source, saved Resumable) error {
	for {
		if eval != nil && l.evalDue() {
			if err := l.runEval(ctx, eval); err != nil {
				return err
			}
		}
		if l.saves != nil && l.saves.due(l.Steps(), l.config.Steps) {
			if err := l.saveCheckpoint(saved); err != nil {
				return err
			}
		}
		if l.Steps() >= l.config.Steps {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("train: stopped after %d of %d steps: %w", l.Steps(), l.config.Steps, err)
		}
		if err := l.runStep(train); err != nil {
			return err
		}
	}
}

func (l *Loop) runStep(train Source) error {
	r, err := l.step.take(l.config.batchesPerStep(), func() (Batch, error) {
		b, err := train.Next()
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("the source has ended, want batches for %d steps: %w", l.config.Steps, io.ErrUnexpectedEOF)
		}
		if err != nil {
			err = fmt.Errorf("batch: %w", err)
		}
		return b, err
	})
	if err == nil && l.config.OnStep != nil {
		l.config.OnStep(r)
	}
	return err
}

func (l *Loop) evalDue() bool {
	n, every := l.Steps(), l.config.EvalEvery
	due := n == l.config.Steps || every > 0 && n%every == 0
	return due && n > 0 && l.evaluated != n
}

func (l *Loop) runEval(ctx context.Context, eval Source) error {
	e, err := l.Evaluate(ctx, eval)
	if err != nil {
		return err
	}
	l.evaluated = l.Steps()
	if l.config.OnEval != nil {
		l.config.OnEval(e)
	}
	return nil
}

// saveCheckpoint saves where the loop stands, unless it has no folder to save to or
// that has it already.
func (l *Loop) saveCheckpoint(source Resumable) error {
	if l.saves == nil || l.saves.has(l.Steps()) {
		return nil
	}
	if l.config.BeforeSave != nil {
		if err := l.config.BeforeSave(); err != nil {
			return fmt.Errorf("train: checkpoint after %d steps: %w", l.Steps(), err)
		}
	}
	return l.saves.Save(l, source)
}
