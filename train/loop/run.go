package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"attention/internal/oneline"
	"attention/train"
)

// Run takes the remaining steps of Config.Steps, each with the next batches of source, which must not end earlier. It
// evaluates on eval, unless eval is nil, after every Config.EvalEvery steps and after the last one. Then it calls the
// observer, if there is one.
//
// After SaveTo, source must be Resumable. Run then saves after every Saver.Every steps, after
// the last one, and when it is stopped. It evaluates before it saves.
//
// With Config.Patience, Run ends earlier, with a checkpoint and without an error, if evaluations no longer improve.
//
// If the context is done, Run stops between two steps, or in an evaluation, and returns the context's error; Run may be
// called again to resume. After any other error it saves nothing, and earlier checkpoints stay.
func (l *Loop) Run(ctx context.Context, source, eval train.Source) error {
	saved, err := l.prepare(ctx, source, eval)
	if l.config.Group != nil {
		err = l.beginTogether(saved, err)
	}
	if err != nil {
		return err
	}
	err = l.runSteps(ctx, source, eval, saved)
	if isStop(err) && (ctx.Err() != nil || l.config.Group != nil) {
		if saveErr := l.saveCheckpoint(saved); saveErr != nil {
			err = fmt.Errorf("%w; %w", err, saveErr)
		}
	}
	return oneline.Join(err, l.flush())
}

// isStop reports whether an error means that a context has ended.
func isStop(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// prepare checks the arguments of Run, and returns the source to train on if its position can be saved.
func (l *Loop) prepare(ctx context.Context, source, eval train.Source) (train.Resumable, error) {
	if err := l.trainable(); err != nil {
		return nil, err
	}
	if ctx == nil {
		return nil, errNoContext
	}
	if source == nil {
		return nil, errNoSource
	}
	saved, ok := source.(train.Resumable)
	if l.saver != nil && !ok {
		return nil, fmt.Errorf("train: source to train on: got a %T, want a Resumable one: "+
			"a checkpoint has to hold its position", source)
	}
	if eval == nil && l.config.remembers() {
		return nil, errors.New("train: source to evaluate on: got nil, want one: Patience and KeepBest go by its loss")
	}
	if eval != nil && ok { // a loss that cannot be evaluated should fail before the first step
		if err := l.Prepare(saved, eval); err != nil {
			return nil, err
		}
	}
	l.saving = saving{Last: -1}
	if l.saver != nil {
		l.saving = saving{true, int64(l.saver.Every()), int64(l.saver.Newest())}
	}
	if l.observer != nil {
		return saved, l.observer.Begin()
	}
	return saved, nil
}

// runSteps evaluates, observes, saves and steps until no step is left or ctx is done.
func (l *Loop) runSteps(ctx context.Context, source, eval train.Source, saved train.Resumable) error {
	for {
		if eval != nil && l.evalDue() {
			if err := l.runEval(ctx, eval); err != nil {
				return err
			}
		}
		observeErr := l.observe() // an error; the other processes of a group learn of it when they agree to continue
		if l.saveDue() {
			if err := l.saveCheckpoint(saved); err != nil {
				return err
			}
		}
		if l.done() {
			return observeErr
		}
		if err := l.goOn(ctx, observeErr); err != nil {
			return err
		}
		r, err := l.step.Take(source)
		if err != nil {
			return err
		}
		if l.config.OnStep != nil {
			l.config.OnStep(r)
		}
	}
}

// goOn returns an error if no step may follow: the observer's error, or the error of a done context of this process or
// another.
func (l *Loop) goOn(ctx context.Context, observeErr error) error {
	err := cmp.Or(observeErr, ctx.Err())
	if l.config.Group != nil {
		err = l.config.Group.Agree(err)
	}
	if observeErr != nil {
		return observeErr
	}
	if err != nil {
		return fmt.Errorf("train: stopped after %d of %d steps: %w", l.Steps(), l.config.Steps, err)
	}
	return nil
}

// done reports whether no step is left.
func (l *Loop) done() bool { return l.Steps() >= l.config.Steps || l.impatient() }

var (
	errNoContext = errors.New("train: context: got nil, want one")
	errNoSource  = errors.New("train: source to train on: got nil, want one")
)

func (l *Loop) evalDue() bool { return l.due(l.config.EvalEvery) && l.evaluated != l.Steps() }

func (l *Loop) saveDue() bool { return l.saving.On && (l.due(int(l.saving.Every)) || l.impatient()) }

// due reports whether the loop has just taken a multiple of every steps or the last one;
// 0 means only the last one.
func (l *Loop) due(every int) bool {
	n := l.Steps()
	return n > 0 && (n == l.config.Steps || every > 0 && n%every == 0)
}

func (l *Loop) runEval(ctx context.Context, eval train.Source) error {
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

// saving says when Run saves. All processes of a group use the values of rank 0. The processes of a group have rank
// 0's.
type saving struct {
	On    bool
	Every int64 // steps; 0 means only the last
	Last  int64 // steps of the checkpoint that was last saved or restored; -1 before
}

// saveCheckpoint saves a checkpoint, unless Run saves none or has already saved this one. In a group rank 0 writes it,
// and the other processes send their parts.
func (l *Loop) saveCheckpoint(source train.Resumable) error {
	if !l.saving.On || l.saving.Last == int64(l.Steps()) {
		return nil
	}
	if err := l.takeNotes(); err != nil {
		return err
	}
	save := func() error { return l.Save(nil) }
	if l.saver != nil {
		save = func() error { return l.saver.Save(l, source) }
	}
	if err := save(); err != nil {
		return err
	}
	l.saving.Last = int64(l.Steps())
	return nil
}

// takeNotes calls Config.BeforeSave in rank 0.
func (l *Loop) takeNotes() error {
	g, f := l.config.Group, l.config.BeforeSave
	var err error
	if f != nil && (g == nil || g.Rank() == 0) {
		var notes map[string]string
		if notes, err = f(); err != nil {
			err = fmt.Errorf("train: checkpoint after %d steps: %w", l.Steps(), err)
		} else {
			l.notes = notes
		}
	}
	if g != nil {
		return g.Agree(err)
	}
	return err
}
