package train

import (
	"errors"
	"fmt"

	"attention/internal/expr"
	"attention/internal/shapes"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// stepFormula is the loss of a Step over batches of any shapes, with a program for each combination of types and shapes.
type stepFormula struct {
	params   *layers.Params
	loss     layers.Formula
	version  int // of the parameters
	programs shapes.Cache[*program]
}

// NewStepFunc returns a Step whose batches may have any shapes. The first node that the formula returns is the loss;
// others are for a layers.Func, and a step does not compute them. The formula is called for the first batch of each
// combination of names, types and shapes, in Train mode. Graphs are kept as those of a layers.Func are,
// StepConfig.Graphs of them, and compute in the same memory. Gradients, their sums and the solver's state exist once.
//
// All parameters that are not frozen are trained, and the loss of every batch has to depend on each of them: freeze
// others. After Params.Keep, Widen, Freeze, Unfreeze or AddLoRA a step is refused; make another Step.
func NewStepFunc(p *layers.Params, loss layers.Formula, c StepConfig) (*Step, error) {
	if p == nil || loss == nil {
		return nil, errors.New("train: step: got no parameters or no formula, want both")
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	s := &Step{config: c, formula: &stepFormula{params: p, loss: loss, version: p.Version()}}
	for name, v := range p.All() {
		s.weights += int(v.MemSize())
		if !p.Frozen(name) {
			s.params = append(s.params, Param{Name: name, Value: v})
		}
	}
	if err := s.makeSolver(); err != nil {
		return nil, err
	}
	return s, nil
}

// choose makes the program of a batch the step's, which it is always for a Step of NewStep.
func (s *Step) choose(v Values) error {
	f := s.formula
	if f == nil {
		return nil
	}
	if f.version != f.params.Version() {
		return errors.New("parameters: got some that were replaced, frozen or given adapters, want those of NewStepFunc")
	}
	next, ok := f.programs.Get(v)
	if ok && next == s.program {
		return nil
	}
	if s.program != nil { // nothing holds on to its batch and its gradients
		s.program.forget()
		for i := range s.params {
			s.params[i].Grad = nil
		}
		s.program = nil
	}
	if !ok {
		err := expr.Building(func() (err error) { next, err = s.build(v); return err })
		if err != nil {
			return fmt.Errorf("batch of %s: %w", shapes.Text(v), err)
		}
		if old, ok := f.programs.Add(v, next, s.config.graphs()); ok {
			_ = old.machine.Close() // which cannot fail
		}
	}
	s.program = next
	return nil
}

// build returns the program for batches like v.
func (s *Step) build(v Values) (*program, error) {
	b := layers.NewBuild(s.formula.params, layers.Train)
	in := b.InputsOf(v)
	if err := b.Err(); err != nil {
		return nil, err
	}
	out := s.formula.loss(b, in)
	if err := b.Err(); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, errors.New("loss: got no node, want one")
	}
	pr, params, err := newTrainingProgram(b, out[0], &s.arena)
	if err != nil {
		return nil, err
	}
	for i, p := range s.params {
		if i == len(params) || params[i].Name != p.Name {
			return nil, fmt.Errorf("loss: does not depend on parameter %s, want it to, or the parameter frozen", p.Name)
		}
	}
	return pr, nil
}

// forget lets go of the values of the last run.
func (pr *program) forget() {
	inputs := make([]*G.Node, 0, len(pr.inputs))
	for _, n := range pr.inputs {
		inputs = append(inputs, n)
	}
	pr.machine.Forget(inputs...)
	pr.gradients = gradients{}
}
