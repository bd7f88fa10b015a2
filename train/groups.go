package train

import (
	"cmp"
	"fmt"

	"attention/internal/config"
	"attention/internal/pattern"
)

// ParamGroup has settings for some parameters, like the groups of PyTorch's optimizers. A nil
// setting is the setting of parameters without a group.
type ParamGroup struct {
	// Params is a pattern of the parameters' names, as for layers.Params.Freeze: "h.0".
	Params string `json:"params"`
	// LRFactor multiplies the learning rate. PyTorch's groups have the product, "lr", which a
	// schedule multiplies.
	LRFactor *float64 `json:"lr_factor,omitempty"`
	// WeightDecay replaces the solver's, also for parameters that its Decay leaves out.
	WeightDecay *float64 `json:"weight_decay,omitempty"`
	// Solver is AdamW, for matrices that a Muon leaves to it; "" is the solver itself.
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

// ValidateParams returns an error for a group without a parameter of these names, and for
// two groups with one parameter.
func (c SolverConfig) ValidateParams(names []string) error {
	_, err := c.groupsOf(names)
	return err
}

// groupsOf returns the group of each of the named parameters that has one.
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
