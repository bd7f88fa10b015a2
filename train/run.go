package train

import (
	"cmp"
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
	if err := l.made(); err != nil {
		return err
	}
	saved, err := l.prepare(ctx, train, eval)
	if err = l.begin(saved, err); err != nil {
		return err
	}
	err = l.runSteps(ctx, train, eval, saved)
	if isStop(err) && (ctx.Err() != nil || l.team.Size() > 1) {
		if saveErr := l.saveCheckpoint(saved); saveErr != nil {
			err = fmt.Errorf("%w; %w", err, saveErr)
		}
	}
	return oneline.Join(err, l.flushWatch())
}

// prepare checks what Run is given, and returns the source to train on if its place can be saved.
func (l *Loop) prepare(ctx context.Context, train, eval Source) (Resumable, error) {
	if err := l.trainable(); err != nil {
		return nil, err
	}
	if ctx == nil {
		return nil, errNoContext
	}
	if train == nil {
		return nil, errors.New("train: source to train on: got nil, want one")
	}
	saved, ok := train.(Resumable)
	if l.saves != nil && !ok {
		return nil, fmt.Errorf("train: source to train on: got a %T, want a Resumable one: "+
			"a checkpoint has to hold where it stands", train)
	}
	if l.saves != nil && l.saves.made() != nil {
		return nil, l.saves.made()
	}
	if eval == nil && l.config.remembers() {
		return nil, errors.New("train: source to evaluate on: got nil, want one: Patience and KeepBest go by its loss")
	}
	if eval != nil { // a loss that cannot be evaluated should fail before the first step
		if err := l.prepareEval(); err != nil {
			return nil, err
		}
	}
	return saved, l.beginWatch()
}

// runSteps evaluates, saves and steps until no step is left or ctx is done.
func (l *Loop) runSteps(ctx context.Context, train, eval Source, saved Resumable) error {
	for {
		var watched error // the other processes of a group learn of it where they agree to go on
		if eval != nil && l.evalDue() {
			if err := l.runEval(ctx, eval); err != nil {
				return err
			}
		}
		if l.watchDue() {
			watched = l.record()
		}
		if l.saveDue() {
			if err := l.saveCheckpoint(saved); err != nil {
				return err
			}
		}
		if l.Steps() >= l.config.Steps || l.impatient() {
			return watched
		}
		err := l.team.agree(cmp.Or(watched, ctx.Err()))
		if watched != nil {
			return watched
		}
		if err != nil {
			return fmt.Errorf("train: stopped after %d of %d steps: %w", l.Steps(), l.config.Steps, err)
		}
		r, err := l.step.take(train)
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

func (l *Loop) saveDue() bool { return l.saving.on && (l.due(l.saving.every) || l.impatient()) }

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
