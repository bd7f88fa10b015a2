package train

import (
	"context"
	"errors"
	"fmt"

	"attention/internal/oneline"
)

// Run takes the remaining steps of Config.Steps, each with the next batches of train,
// which must not end before. It evaluates on eval, unless that is nil, after every
// Config.EvalEvery steps and after the last one. After WatchTo it then records.
//
// After SaveTo, train must be Resumable. Run then saves after every
// CheckpointsConfig.Every steps, after the last one, and when it is stopped. It
// evaluates before it saves.
//
// With Config.Patience it ends sooner, with a checkpoint and no error, if evaluations do
// not improve any more.
//
// A context that is done stops Run between two steps, or in an evaluation, with the
// context's error; Run may be called again to resume. After any other error it saves
// nothing, and earlier checkpoints stay.
func (l *Loop) Run(ctx context.Context, train, eval Source) error {
	if err := l.trainable(); err != nil {
		return err
	}
	if ctx == nil {
		return errNoContext
	}
	if train == nil {
		return errors.New("train: source to train on: got nil, want one")
	}
	saved, ok := train.(Resumable)
	if l.saves != nil && !ok {
		return fmt.Errorf("train: source to train on: got a %T, want a Resumable one: "+
			"a checkpoint has to hold where it stands", train)
	}
	if eval == nil && l.config.remembers() {
		return errors.New("train: source to evaluate on: got nil, want one: Patience and KeepBest go by its loss")
	}
	if eval != nil { // a loss that cannot be evaluated should fail before the first step
		if err := l.prepareEval(); err != nil {
			return err
		}
	}
	if err := l.beginWatch(); err != nil {
		return err
	}
	err := l.runSteps(ctx, train, eval, saved)
	if stopped := ctx.Err(); stopped != nil && errors.Is(err, stopped) {
		if saveErr := l.saveCheckpoint(saved); saveErr != nil {
			err = fmt.Errorf("%w; %w", err, saveErr)
		}
	}
	return oneline.Join(err, l.flushWatch())
}

// runSteps evaluates, saves and steps until no step is left or ctx is done.
func (l *Loop) runSteps(ctx context.Context, train, eval Source, saved Resumable) error {
	for {
		if eval != nil && l.evalDue() {
			if err := l.runEval(ctx, eval); err != nil {
				return err
			}
		}
		if l.watchDue() {
			if err := l.watch.record(l); err != nil {
				return fmt.Errorf("train: watch: record after %d steps: %w", l.Steps(), err)
			}
		}
		if l.saveDue() {
			if err := l.saveCheckpoint(saved); err != nil {
				return err
			}
		}
		if l.Steps() >= l.config.Steps || l.impatient() {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("train: stopped after %d of %d steps: %w", l.Steps(), l.config.Steps, err)
		}
		r, err := l.step.take(l.config.batchesPerStep(), train)
		if err != nil {
			return err
		}
		if l.config.OnStep != nil {
			l.config.OnStep(r)
		}
	}
}

var errNoContext = errors.New("train: context: got nil, want one")

func (l *Loop) evalDue() bool { return l.due(l.config.EvalEvery) && l.evaluated != l.Steps() }

func (l *Loop) saveDue() bool { return l.saves != nil && (l.due(l.saves.every()) || l.impatient()) }

// due reports whether the loop has just taken a multiple of every steps or the last one;
// 0 means only the last one.
func (l *Loop) due(every int) bool {
	n := l.Steps()
	return n > 0 && (n == l.config.Steps || every > 0 && n%every == 0)
}

func (l *Loop) runEval(ctx context.Context, eval Source) error {
	e, err := l.Evaluate(ctx, eval)
	if err != nil {
		return err
	}
	l.evaluated = l.Steps()
	l.remember(e)
	if l.config.OnEval != nil {
		l.config.OnEval(e)
	}
	return nil
}

// saveCheckpoint saves a checkpoint, unless there is no folder to save to or it has this
// one already.
func (l *Loop) saveCheckpoint(source Resumable) error {
	if l.saves == nil || l.saves.newest() == l.Steps() {
		return nil
	}
	if l.config.BeforeSave != nil {
		notes, err := l.config.BeforeSave()
		if err != nil {
			return fmt.Errorf("train: checkpoint after %d steps: %w", l.Steps(), err)
		}
		l.notes = notes
	}
	watched := l.flushWatch() // first, so that a checkpoint is not newer; but it matters more
	return oneline.Join(l.saves.Save(l, source), watched)
}
