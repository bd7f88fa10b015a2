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

// Prepare builds the graph for batches like v, as the first step with such a batch does. Memory then includes the
// graph.
func (s *Step) Prepare(v Values) error {
	rows, err := s.split(v)
	switch {
	case err != nil:
	case rows > 0:
		err = s.prepareCached(v, rows)
	default:
		err = s.choose(v)
	}
	if err != nil {
		return fmt.Errorf("train: step %d: %w", s.taken+1, err)
	}
	return nil
}

// choose makes the program for a batch the current one; for a Step of NewStep there is only one.
func (s *Step) choose(v Values) error {
	if s.formula == nil {
		return s.program.check(v)
	}
	return s.use(&s.programs, v, s.build)
}

// use makes the program for batches like v the step's: the one of the cache, or a new one.
func (s *Step) use(programs *shapes.Cache[*program], v Values,
	build func(b *layers.Build, in layers.Inputs) (*program, error)) error {
	if s.version != s.all.Version() {
		return errors.New("parameters: got some that were replaced, frozen or given adapters, want those of NewStepFunc")
	}
	next, ok := programs.Get(v)
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
		err := expr.Building(func() (err error) {
			b := layers.NewBuild(s.all, layers.Train)
			if in := b.InputsOf(v); b.Err() == nil {
				next, err = build(b, in)
			}
			return cmp.Or(b.Err(), err)
		})
		if err != nil {
			return fmt.Errorf("batch of %s: %w", shapes.Text(v), err)
		}
		if old, ok := programs.Add(v, next, cmp.Or(s.config.Graphs, 8)); ok {
			_ = old.machine.Close() // which cannot fail
		}
	}
	s.program = next
	return nil
}

// build returns the program of the formula's loss.
func (s *Step) build(b *layers.Build, in layers.Inputs) (*program, error) {
	var loss *G.Node
	if out := s.formula(b, in); len(out) > 0 {
		loss = out[0]
	}
	return s.buildLoss(b, loss)
}

// buildLoss returns the program of a loss that depends on every parameter to train.
func (s *Step) buildLoss(b *layers.Build, loss *G.Node) (*program, error) {
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
