package train

import (
	"cmp"
	"errors"
	"fmt"

	"attention/internal/dense"

	"gorgonia.org/tensor"
)

// Param is a parameter and its gradient, for a solver.
type Param struct {
	Name  string        // as in a state dict; unique among a model's parameters
	Value *tensor.Dense // float32 or float64; updated in place, since graphs are bound to it
	Grad  *tensor.Dense // the loss's gradient: Value's dtype and shape
}

// slot is the state of a solver for one parameter.
type slot struct {
	name   string
	form   string // its dtype and shape
	dtype  tensor.Dtype
	shape  tensor.Shape
	factor float64         // of the learning rate
	decay  float64         // the weight decay of this parameter: 0 if Decay does not cover it
	solver string          // that moves it
	own    Span            // the elements that the solver updates
	names  []string        // PyTorch's, of the tensors in state
	state  []*tensor.Dense // each of the parameter's dtype, and of its shape or of own's length
}

// newSlots checks a model's parameters, whose gradients need not exist yet, and returns
// a slot for each.
func newSlots(params []Param, c SolverConfig) ([]slot, error) {
	if len(params) == 0 {
		return nil, errors.New("train: parameters: got none, want at least one")
	}
	slots := make([]slot, len(params))
	names := make(map[string]bool, len(params))
	owners := make(map[*tensor.Dense]string, len(params))
	for i, p := range params {
		if p.Name == "" {
			return nil, fmt.Errorf("train: parameter %d: got no name, want one", i)
		}
		if names[p.Name] {
			return nil, fmt.Errorf("train: parameter %s: got the name twice, want it once", p.Name)
		}
		names[p.Name] = true
		if err := checkDense("value of "+p.Name, p.Value); err != nil {
			return nil, err
		}
		if owner, shared := owners[p.Value]; shared {
			return nil, fmt.Errorf("train: parameter %s: got the tensor of %s, want its own: it would be updated twice a step",
				p.Name, owner)
		}
		owners[p.Value] = p.Name
		slots[i] = slot{name: p.Name, form: dense.Form(p.Value), dtype: p.Value.Dtype(), shape: p.Value.Shape().Clone(),
			factor: 1, own: wholeOf(p.Value), solver: c.Name}
		if c.Name == Muon && p.Value.Shape().Dims() != 2 {
			slots[i].solver = AdamW
		}
		if c.Decay.covers(p.Value.Shape()) {
			slots[i].decay = c.WeightDecay
		}
	}
	return slots, c.group(slots)
}

// group gives slots the settings of their groups.
func (c SolverConfig) group(slots []slot) error {
	names := make([]string, len(slots))
	for i, s := range slots {
		names[i] = s.name
	}
	groups, err := c.groupsOf(names)
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	for i, s := range slots {
		g := groups[s.name]
		if g.LRFactor != nil {
			slots[i].factor = *g.LRFactor
		}
		if g.WeightDecay != nil {
			slots[i].decay = *g.WeightDecay
		}
		slots[i].solver = cmp.Or(g.Solver, slots[i].solver)
	}
	return nil
}

// checkStep checks all that a step reads, so that it updates either every parameter or
// none.
func checkStep(lr float64, slots []slot, params []Param) error {
	if err := checkNonNegative("learning rate", lr); err != nil {
		return err
	}
	if len(params) != len(slots) {
		return fmt.Errorf("train: parameters: got %d, want the solver's %d", len(params), len(slots))
	}
	for i, p := range params {
		if err := checkNonNegative("learning rate of "+slots[i].name, lr*slots[i].factor); err != nil {
			return err
		}
		if p.Name != slots[i].name {
			return fmt.Errorf("train: parameter %d: got %q, want the solver's %q", i, p.Name, slots[i].name)
		}
		if err := slots[i].check("value of "+p.Name, p.Value); err != nil {
			return err
		}
		if err := slots[i].check("gradient of "+p.Name, p.Grad); err != nil {
			return err
		}
	}
	return nil
}

// check checks a value or a gradient against the parameter it belongs to.
func (s slot) check(what string, d *tensor.Dense) error {
	if err := checkDense(what, d); err != nil {
		return err
	}
	if form := dense.Form(d); form != s.form {
		return fmt.Errorf("train: %s: got %s, want %s", what, form, s.form)
	}
	return nil
}

// checkDense refuses a tensor whose elements are not one slice of floats.
func checkDense(what string, d *tensor.Dense) error {
	if err := checkLayout(what, d); err != nil {
		return err
	}
	if dt := d.Dtype(); !dense.IsFloat(dt) {
		return fmt.Errorf("train: %s: got %v, want float32 or float64", what, dense.TypeName(dt))
	}
	return nil
}

// checkLayout refuses a tensor that is not contiguous.
func checkLayout(what string, d *tensor.Dense) error {
	if !dense.IsTensor(d) {
		return fmt.Errorf("train: %s: got nil or the zero value, want a tensor", what)
	}
	if !dense.IsRowMajor(d) {
		return fmt.Errorf("train: %s: got a view or a column-major tensor of shape %v, want contiguous row-major data",
			what, d.Shape())
	}
	return nil
}
