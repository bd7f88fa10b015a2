package train

import (
	"fmt"
	"iter"
	"maps"

	"attention/internal/dense"
	"attention/internal/kernel"
	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// Solver updates parameters from their gradients. It is made for one model's
// parameters (SolverConfig.New) and is not safe for concurrent use.
type Solver struct {
	config SolverConfig // resolved
	slots  []slot
	steps  *tensor.Dense   // (1), int64: steps taken; nil if the updates do not depend on it
	rooms  []*tensor.Dense // for updates of Muon side by side; nil before the first
}

// New makes the solver for these parameters. It reads their names and
// values; gradients may still be nil. Parameters without a name or of one name,
// one tensor under two names, values that are not contiguous float32 or float64, and
// groups that none or that two match are errors.
func (c SolverConfig) New(params []Param) (*Solver, error) {
	slots, err := c.slots(params)
	if err != nil {
		return nil, err
	}
	return c.newSolver(params, slots), nil
}

// slots checks a solver and its parameters and returns a slot without a state for each.
func (c SolverConfig) slots(params []Param) ([]slot, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	return newSlots(params, c.resolved())
}

// newSolver returns a solver that updates each slot's own elements, and has a state for those only.
func (c SolverConfig) newSolver(params []Param, slots []slot) *Solver {
	c = c.resolved()
	s := &Solver{config: c, slots: slots}
	if c.Name != SGD {
		s.steps = tensor.New(tensor.Of(tensor.Int64), tensor.WithShape(1))
	}
	for i, p := range params {
		at, shape := &slots[i], p.Value.Shape().Clone()
		at.names = c.states(at.solver)
		if at.own != wholeOf(p.Value) {
			shape = tensor.Shape{at.own.Len()}
		}
		if at.own.Len() == 0 {
			continue
		}
		for range at.names {
			at.state = append(at.state, tensor.New(tensor.Of(p.Value.Dtype()), tensor.WithShape(shape...)))
		}
	}
	return s
}

// Step updates every Value in place with its Grad at learning rate lr. The
// parameters are those the solver was made for, in the same order; the
// tensors behind Grad may differ each time. An error (a missing or
// misshapen gradient, a learning rate that is negative, infinite or NaN)
// leaves all values and the state as they were.
func (s *Solver) Step(lr float64, params []Param) error {
	if err := checkStep(lr, s.slots, params); err != nil {
		return err
	}
	if s.steps != nil {
		s.steps.Int64s()[0]++
	}
	var matrices []int
	for i, p := range params {
		switch at := s.slots[i]; {
		case at.own.Len() == 0:
		case at.solver == Muon:
			matrices = append(matrices, i)
		default:
			dense.ByType(p.Value.Dtype(), update[float32], update[float64])(s, at, lr*at.factor, p)
		}
	}
	s.moveMatrices(lr, params, matrices)
	return nil
}

// stepState is the name of the state that is the number of steps taken.
const stepState = "step"

// parts returns the state in the order of State, in parts of the whole.
func (s *Solver) parts() (all []Part) {
	if s.steps != nil {
		all = append(all, Part{Name: stepState, Dtype: tensor.Int64, Shape: s.steps.Shape(), Value: s.steps})
	}
	for _, slot := range s.slots {
		for i, name := range slot.names {
			p := Part{Name: name + "." + slot.name, Dtype: slot.dtype, Shape: slot.shape, Lo: slot.own.Lo}
			if slot.state != nil {
				p.Value = slot.state[i]
			}
			all = append(all, p)
		}
	}
	return all
}

// states returns PyTorch's names of what a solver keeps of each parameter.
func (c SolverConfig) states(solver string) []string {
	switch {
	case solver == Adam || solver == AdamW: // running averages of the gradient and of its square
		return []string{"exp_avg", "exp_avg_sq"}
	case c.Momentum != 0: // PyTorch's first buffer of SGD is the gradient itself, as momentum·0 + grad is
		return []string{"momentum_buffer"}
	}
	return nil
}

// update updates one parameter, but for Muon's.
func update[F kernel.Float](s *Solver, at slot, lr float64, p Param) {
	if at.solver == SGD {
		sgd[F](s, at, lr, p)
	} else {
		adam[F](s, at, lr, p)
	}
}

// State returns all that the solver remembers between steps, in a fixed
// order, under names made of PyTorch's and the parameter's:
// "exp_avg.h.0.attn.bias". The tensors are the solver's own: the next Step
// changes them, and nobody else should.
func (s *Solver) State() iter.Seq2[string, *tensor.Dense] {
	return func(yield func(string, *tensor.Dense) bool) {
		for _, p := range s.parts() {
			if p.Value != nil && !yield(p.Name, p.Value) {
				return
			}
		}
	}
}

// SetState copies a state that State returned, so that the coming steps
// give the same bits as if the solver had never stopped. Names that are
// missing or unknown and tensors of another dtype or shape are listed in
// the error, which leaves the state as it was.
func (s *Solver) SetState(state map[string]*tensor.Dense) error {
	if err := safetensors.Compare(signatures(s.State()), signatures(maps.All(state))); err != nil {
		return fmt.Errorf("train: solver state: %w", err)
	}
	if s.steps != nil {
		if n := state[stepState].Int64s()[0]; n < 0 {
			return fmt.Errorf("train: solver state: step: got %d, want a number >= 0", n)
		}
	}
	for name, value := range s.State() {
		dense.SetSlice(value, dense.Slice(state[name]))
	}
	return nil
}

// signatures returns the signatures of tensors.
func signatures(tensors iter.Seq2[string, *tensor.Dense]) (all []safetensors.Signature) {
	for name, value := range tensors {
		all = append(all, safetensors.Signature{Name: name, Form: dense.Form(value)})
	}
	return all
}
