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
// context's error; Run may be called again to go on. After any other error nothing is
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
		if l.saveDue() {
			if err := l.saveCheckpoint(saved); err != nil {
				return err
			}
		}
		if l.step >= l.config.Steps {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("train: stopped after %d of %d steps: %w", l.step, l.config.Steps, err)
		}
		if err := l.runStep(train); err != nil {
			return err
		}
	}
}

func (l *Loop) runStep(train Source) error {
	s, err := l.takeStep(func() (Batch, error) {
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
		l.config.OnStep(s)
	}
	return err
}

func (l *Loop) evalDue() bool {
	every := l.config.EvalEvery
	due := l.step == l.config.Steps || every > 0 && l.step%every == 0
	return due && l.step > 0 && l.evaluated != l.step
}

func (l *Loop) runEval(ctx context.Context, eval Source) error {
	e, err := l.Evaluate(ctx, eval)
	if err != nil {
		return err
	}
	l.evaluated = l.step
	if l.config.OnEval != nil {
		l.config.OnEval(e)
	}
	return nil
}

func (l *Loop) saveDue() bool {
	c := l.saves
	return c != nil && l.step > 0 && (l.step == l.config.Steps || c.config.Every > 0 && l.step%c.config.Every == 0)
}

// saveCheckpoint saves where the loop stands, unless it has no folder to save to or
// that has it already.
func (l *Loop) saveCheckpoint(source Resumable) error {
	c := l.saves
	if c == nil || c.last == l.step {
		return nil
	}
	if l.config.BeforeSave != nil {
		if err := l.config.BeforeSave(); err != nil {
			return fmt.Errorf("train: checkpoint after %d steps: %w", l.step, err)
		}
	}
	return c.Save(l, source)
}
