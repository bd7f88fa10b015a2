package loop

import (
	"errors"
	"fmt"
	"iter"

	"attention/internal/config"
	"attention/internal/dense"
	"attention/train"

	"gorgonia.org/tensor"
)

// best holds the best evaluation of Run so far, for Config.KeepBest and Config.Patience.
type best struct {
	Evaluation               // the evaluation with the lowest loss; the zero value before the first
	from       float64       // the last loss that counted as an improvement
	stale      int           // evaluations since then
	params     []train.Param // copies of the trained parameters at that evaluation; nil without KeepBest
	used       bool          // whether the parameters now hold these copies
}

// validateBest returns an error for settings about evaluations if there are no evaluations.
func (c Config) validateBest() error {
	if err := config.AtLeast(c, 0, "Patience", "MinDelta"); err != nil {
		return err
	}
	const never = "got %v with %s=0, want it with evaluations during the run"
	switch {
	case c.MinDelta > 0 && c.Patience == 0:
		return config.Errorf(c, "MinDelta", "got %v with %s=0, want 0", c.MinDelta, config.Field("Patience"))
	case c.Patience > 0 && c.EvalEvery == 0:
		return config.Errorf(c, "Patience", never, c.Patience, config.Field("EvalEvery"))
	case c.KeepBest && c.EvalEvery == 0:
		return config.Errorf(c, "KeepBest", never, c.KeepBest, config.Field("EvalEvery"))
	}
	return nil
}

// remembers reports whether a run compares its evaluations.
func (c Config) remembers() bool { return c.KeepBest || c.Patience > 0 }

// makeBest allocates the copies of the trained parameters.
func (l *Loop) makeBest() {
	for _, p := range l.step.Params() {
		l.best.params = append(l.best.params, train.Param{Name: p.Name, Value: p.Value.Clone().(*tensor.Dense)})
	}
}

// remember updates the best evaluation with a new one.
func (l *Loop) remember(e Evaluation) {
	if !l.config.remembers() {
		return
	}
	b := &l.best
	first := b.Step == 0
	if first || e.Loss < b.Loss {
		b.Evaluation = e
		copyValues(b.params, l.step.Params())
	}
	if first || e.Loss < b.from-l.config.MinDelta {
		b.from, b.stale = e.Loss, 0
	} else {
		b.stale++
	}
}

// impatient reports whether Run ends before its last step.
func (l *Loop) impatient() bool { return l.config.Patience > 0 && l.best.stale >= l.config.Patience }

// Best returns the evaluation of Run with the lowest loss, the first of equal ones. The result is zero before the first
// evaluation, and without Config.KeepBest and Config.Patience.
func (l *Loop) Best() Evaluation { return l.best.Evaluation }

// UseBest sets the parameters to their values at the evaluation Best, so that they can be written and used after Run
// has ended. It needs Config.KeepBest. Training cannot continue from these values, because the solver's state belongs
// to the last step: Step, Run and Save return an error until Restore.
func (l *Loop) UseBest() error {
	switch {
	case !l.config.KeepBest:
		return errors.New("train: best parameters: got a loop without Config.KeepBest, want one with it")
	case l.best.Step == 0:
		return errors.New("train: best parameters: got no evaluation, want one of Run")
	}
	copyValues(l.step.Params(), l.best.params)
	l.best.used = true
	return nil
}

// copyValues copies parameters' values, unless there are no copies.
func copyValues(to, from []train.Param) {
	for i, p := range to {
		dense.SetSlice(p.Value, dense.Slice(from[i].Value))
	}
}

// trainable returns an error after UseBest, and after a checkpoint was read only in part.
func (l *Loop) trainable() error {
	if l.torn {
		return errors.New("train: loop: got one whose checkpoint could not be read to its end, want it restored")
	}
	if l.best.used {
		return fmt.Errorf("train: loop: got the parameters of UseBest, of step %d, want those of step %d: Restore them",
			l.best.Step, l.Steps())
	}
	return nil
}

// kept returns the best parameters.
func (b best) kept() iter.Seq2[string, *tensor.Dense] {
	return func(yield func(string, *tensor.Dense) bool) {
		for _, p := range b.params {
			if !yield(p.Name, p.Value) {
				return
			}
		}
	}
}
