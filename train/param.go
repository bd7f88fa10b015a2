package train

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"attention/internal/config"
	"attention/internal/dense"
	"attention/internal/pattern"

	"gorgonia.org/tensor"
)

// Param is a parameter and its gradient, for a solver.
type Param struct {
	Name  string        // as in a state dict; unique within a model
	Value *tensor.Dense // float32 or float64; updated in place, since graphs are bound to it
	Grad  *tensor.Dense // the loss's gradient: Value's dtype and shape
}

// slot is the state of a solver for one parameter.
type slot struct {
	name   string
	dtype  tensor.Dtype
	shape  tensor.Shape
	factor float64         // factor of the learning rate
	decay  float64         // the weight decay of this parameter: 0 if Decay does not cover it
	solver string          // that moves it
	own    Span            // the elements that the solver updates
	names  []string        // PyTorch's names of the tensors in state
	state  []*tensor.Dense // each of the parameter's dtype, and of its shape or of own's length
}

// slots checks a model's parameters and returns a slot without a state for each. Gradients need not exist yet.
func (c SolverConfig) slots(params []Param) ([]slot, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.resolved()
	if len(params) == 0 {
		return nil, errors.New("parameters: got none, want at least one")
	}
	var names []string
	for i, p := range params {
		if p.Name == "" {
			return nil, fmt.Errorf("parameter %d: got no name, want one", i)
		}
		if slices.Contains(names, p.Name) {
			return nil, fmt.Errorf("parameter %s: got the name twice, want it once", p.Name)
		}
		names = append(names, p.Name)
	}
	groups, err := c.groupsOf(names)
	if err != nil {
		return nil, err
	}
	var slots []slot
	owners := map[*tensor.Dense]string{}
	for _, p := range params {
		if err := checkDense("value of "+p.Name, p.Value); err != nil {
			return nil, err
		}
		if owner, shared := owners[p.Value]; shared {
			return nil, fmt.Errorf("parameter %s: got the tensor of %s, want its own: it would be updated twice a step",
				p.Name, owner)
		}
		owners[p.Value] = p.Name
		s := slot{name: p.Name, dtype: p.Value.Dtype(), shape: p.Value.Shape().Clone(), factor: 1,
			own: wholeOf(p.Value), solver: c.Name}
		if c.Name == Muon && p.Value.Dims() != 2 {
			s.solver = AdamW
		}
		if c.Decay == DecayAll || p.Value.Dims() >= 2 {
			s.decay = c.WeightDecay
		}
		g := groups[p.Name]
		if g.LRFactor != nil {
			s.factor = *g.LRFactor
		}
		if g.WeightDecay != nil {
			s.decay = *g.WeightDecay
		}
		s.solver = cmp.Or(g.Solver, s.solver)
		slots = append(slots, s)
	}
	return slots, nil
}

// checkStep checks all that a step reads, so that it updates either every parameter or none.
func checkStep(lr float64, slots []slot, params []Param) error {
	if err := checkNonNegative("learning rate", lr); err != nil {
		return err
	}
	if len(params) != len(slots) {
		return fmt.Errorf("parameters: got %d, want the solver's %d", len(params), len(slots))
	}
	for i, p := range params {
		s := slots[i]
		if p.Name != s.name {
			return fmt.Errorf("parameter %d: got %q, want the solver's %q", i, p.Name, s.name)
		}
		if err := cmp.Or(checkNonNegative("learning rate of "+s.name, lr*s.factor), s.check("value of "+s.name, p.Value),
			s.check("gradient of "+s.name, p.Grad)); err != nil {
			return err
		}
	}
	return nil
}

// check checks a value or a gradient against its parameter.
func (s slot) check(what string, d *tensor.Dense) error {
	if err := checkDense(what, d); err != nil {
		return err
	}
	if d.Dtype() != s.dtype || !slices.Equal(d.Shape(), s.shape) {
		return fmt.Errorf("%s: got %s, want %v %v", what, dense.Form(d), s.dtype, s.shape)
	}
	return nil
}

// checkNonNegative returns an error for NaN, infinities and negative values; what names the quantity.
func checkNonNegative(what string, v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return fmt.Errorf("%s: got %v, want a finite number >= 0", what, v)
	}
	return nil
}

// checkDense returns an error for a tensor whose elements are not one slice of floats.
func checkDense(what string, d *tensor.Dense) error {
	if err := checkLayout(what, d); err != nil {
		return err
	}
	if dt := d.Dtype(); !dense.IsFloat(dt) {
		return fmt.Errorf("%s: got %v, want float32 or float64", what, dense.TypeName(dt))
	}
	return nil
}

// checkLayout returns an error for a tensor that is not contiguous.
func checkLayout(what string, d *tensor.Dense) error {
	if !dense.IsTensor(d) {
		return fmt.Errorf("%s: got nil or the zero value, want a tensor", what)
	}
	if !dense.IsRowMajor(d) {
		return fmt.Errorf("%s: got a view or a column-major tensor of shape %v, want contiguous row-major data", what,
			d.Shape())
	}
	return nil
}

// ParamGroup has settings for some parameters, like the groups of PyTorch's optimizers. A nil setting means the setting
// of parameters without a group.
type ParamGroup struct {
	// Params is a pattern that matches names of parameters, as in layers.Params.Freeze: "h.0".
	Params string `json:"params"`
	// LRFactor multiplies the learning rate. PyTorch's groups have "lr" instead: the product, which a schedule multiplies.
	LRFactor *float64 `json:"lr_factor,omitempty"`
	// WeightDecay replaces the solver's weight decay, also for parameters that the solver's Decay leaves out.
	WeightDecay *float64 `json:"weight_decay,omitempty"`
	// Solver may be AdamW, for matrices that a Muon solver should leave to it; "" means the solver itself.
	Solver string `json:"solver,omitempty"`
}

// Validate returns an error that names the first wrong field.
func (g ParamGroup) Validate() error {
	if g.Params == "" {
		return config.Errorf(g, "Params", "got none, want a pattern of parameters' names")
	}
	if g.LRFactor == nil && g.WeightDecay == nil && g.Solver == "" {
		return config.Errorf(g, "LRFactor", "got none, want it, %s or %s", config.Field("WeightDecay"),
			config.Field("Solver"))
	}
	return cmp.Or(config.AtLeast(g, 0, "LRFactor", "WeightDecay"),
		config.OneOf(g, "Solver", cmp.Or(g.Solver, AdamW), AdamW))
}

// String prints the group, as in "h.0: lr_factor=0.1 weight_decay=0".
func (g ParamGroup) String() string {
	text := g.Params + ":"
	if g.LRFactor != nil {
		text += fmt.Sprintf(" lr_factor=%v", *g.LRFactor)
	}
	if g.WeightDecay != nil {
		text += fmt.Sprintf(" weight_decay=%v", *g.WeightDecay)
	}
	if g.Solver != "" {
		text += " solver=" + g.Solver
	}
	return text
}

// ValidateParams returns an error for a group whose pattern matches no parameter, and for two groups that match the
// same parameter.
func (c SolverConfig) ValidateParams(names []string) error {
	_, err := c.groupsOf(names)
	return err
}

// groupsOf returns the group of each named parameter, if it has one.
func (c SolverConfig) groupsOf(names []string) (map[string]ParamGroup, error) {
	groups, first := map[string]ParamGroup{}, map[string]int{}
	for i, g := range c.Groups {
		field := fmt.Sprintf("Groups[%d].Params", i)
		matched, err := pattern.Match(g.Params, names)
		if err != nil {
			return nil, config.Errorf(c, field, "%w", err)
		}
		for _, name := range matched {
			if j, ok := first[name]; ok {
				return nil, config.Errorf(c, field,
					"got %q, which has %s like the %q of another group, want it in one of them", g.Params, name,
					c.Groups[j].Params)
			}
			first[name], groups[name] = i, g
		}
	}
	return groups, nil
}

// validateGroups returns an error that names the first wrong field of a group.
func (c SolverConfig) validateGroups() error {
	for i, g := range c.Groups {
		if err := g.Validate(); err != nil {
			return config.In(c, fmt.Sprintf("Groups[%d]", i), err)
		}
		if g.Solver != "" && c.Name != Muon {
			return config.Errorf(c, fmt.Sprintf("Groups[%d].Solver", i),
				"got %s with %s=%s, want none: only muon leaves parameters to another", g.Solver,
				config.Field("Name"), c.Name)
		}
	}
	return nil
}
