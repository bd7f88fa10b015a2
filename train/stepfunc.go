package train

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"attention/internal/expr"
	"attention/internal/shapes"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// Prepare builds the graph for batches like v, as the first step on such a batch does. Memory then counts the graph.
func (s *Step) Prepare(v Values) error {
	if err := s.choose(v); err != nil {
		return fmt.Errorf("train: step %d: %w", s.taken+1, err)
	}
	return nil
}

// choose makes the program of a batch the step's, which it is always for a Step of NewStep.
func (s *Step) choose(v Values) error {
	if s.formula == nil {
		return s.program.check(v)
	}
	if s.version != s.all.Version() {
		return errors.New("parameters: got some that were replaced, frozen or given adapters, want those of NewStepFunc")
	}
	next, ok := s.programs.Get(v)
	if ok && next == s.program {
		return nil
	}
	if s.program != nil { // nothing holds on to its batch and its gradients
		s.program.machine.Forget(slices.Collect(maps.Values(s.program.inputs))...)
		s.program.gradients = gradients{}
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
		if old, ok := s.programs.Add(v, next, cmp.Or(s.config.Graphs, 8)); ok {
			_ = old.machine.Close() // which cannot fail
		}
	}
	s.program = next
	return nil
}

// build returns the program for batches like v.
func (s *Step) build(v Values) (*program, error) {
	b := layers.NewBuild(s.all, layers.Train)
	in := b.InputsOf(v)
	if err := b.Err(); err != nil {
		return nil, err
	}
	var loss *G.Node
	if out := s.formula(b, in); len(out) > 0 {
		loss = out[0]
	}
	pr, params, err := newProgram(b, loss, &s.arena)
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
