package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"attention/internal/config"
	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// best is what Run remembers of its evaluations for Config.KeepBest and Config.Patience.
type best struct {
	evaluations
	params []Param // copies of the trained parameters at Best; nil without KeepBest
	used   bool    // the parameters are these
}

// evaluations is the part of best that a checkpoint holds as JSON. The zero value has seen
// no evaluation.
type evaluations struct {
	Step   int     `json:"step"` // of the evaluation with the lowest loss
	Loss   float64 `json:"loss"`
	Tokens int     `json:"tokens"`
	From   float64 `json:"from"`  // the last loss that counted as an improvement
	Stale  int     `json:"stale"` // evaluations since then
}

// validateBest refuses settings of evaluations that are never made.
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

// remembers reports whether a run looks back at its evaluations.
func (c Config) remembers() bool { return c.KeepBest || c.Patience > 0 }

// makeBest allocates the copies of the trained parameters.
func (l *Loop) makeBest() {
	for _, p := range l.step.program.params {
		l.best.params = append(l.best.params, Param{Name: p.Name, Value: p.Value.Clone().(*tensor.Dense)})
	}
}

// remember takes an evaluation into account.
func (l *Loop) remember(e Evaluation) {
	if !l.config.remembers() {
		return
	}
	b := &l.best
	first := b.Step == 0
	if first || e.Loss < b.Loss {
		b.Step, b.Loss, b.Tokens = e.Step, e.Loss, e.Tokens
		for i, p := range b.params {
			setElements(p.Value, elementsOf(l.step.program.params[i].Value))
		}
	}
	if first || e.Loss < b.From-l.config.MinDelta {
		b.From, b.Stale = e.Loss, 0
	} else {
		b.Stale++
	}
}

// impatient reports whether Run ends before its last step.
func (l *Loop) impatient() bool { return l.config.Patience > 0 && l.best.Stale >= l.config.Patience }

// Best returns the evaluation of Run with the lowest loss, the first one of equals. It is
// zero before the first evaluation, and without Config.KeepBest and Config.Patience.
func (l *Loop) Best() Evaluation {
	if l == nil {
		return Evaluation{}
	}
	return Evaluation{Step: l.best.Step, Loss: l.best.Loss, Tokens: l.best.Tokens}
}

// UseBest sets the parameters to those of the evaluation Best, to write and to use them
// when Run has ended. It wants Config.KeepBest. They are no state to train on from: the
// solver's is another. Step, Run and Save are refused until Restore.
func (l *Loop) UseBest() error {
	switch {
	case l.made() != nil:
		return l.made()
	case !l.config.KeepBest:
		return errors.New("train: best parameters: got a loop without Config.KeepBest, want one with it")
	case l.best.Step == 0:
		return errors.New("train: best parameters: got no evaluation, want one of Run")
	}
	for i, p := range l.step.program.params {
		setElements(p.Value, elementsOf(l.best.params[i].Value))
	}
	l.best.used = true
	return nil
}

// trainable refuses a loop that New did not make, or whose parameters are those of UseBest.
func (l *Loop) trainable() error {
	if err := l.made(); err != nil {
		return err
	}
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

// bestFile returns the best parameters as a checkpoint holds them, and adds what Run
// remembers to its metadata.
func (l *Loop) bestFile(metadata map[string]string) ([]safetensors.Tensor, error) {
	if !l.config.remembers() || l.best.Step == 0 {
		return nil, nil
	}
	text, err := json.Marshal(l.best.evaluations)
	if err != nil {
		return nil, fmt.Errorf("best: %w", err)
	}
	metadata[bestKey] = string(text)
	return toFile(bestPrefix, l.best.kept())
}

// restoreBest sets what Run remembers to that of a checkpoint.
func (l *Loop) restoreBest(c checkpointMetadata, r *safetensors.Reader) error {
	l.best.used, l.best.evaluations = false, evaluations{}
	switch {
	case l.config.KeepBest && c.kept:
		if err := readInto(r, bestPrefix, l.best.kept()); err != nil {
			return err
		}
		l.best.evaluations = c.best
	case l.config.Patience > 0 && !l.config.KeepBest:
		l.best.evaluations = c.best
	}
	return nil
}

// parseEvaluations reads evaluations from a checkpoint; none if the text is empty.
func parseEvaluations(text string) (e evaluations, err error) {
	if text == "" {
		return e, nil
	}
	if err = config.Foreign.Decode([]byte(text), &e); err == nil {
		err = config.JSON(config.AtLeast(e, 1, "Step"))
	}
	if err == nil {
		err = config.JSON(config.AtLeast(e, 0, "Tokens", "Stale"))
	}
	return e, err
}
