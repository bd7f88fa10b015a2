package run

import (
	"fmt"

	"attention/internal/config"
	"attention/internal/pattern"
	"attention/layers"
)

// validateParams returns an error for a pattern of --freeze or --group that matches no parameter of the model.
func (c Config) validateParams() error {
	if len(c.Freeze) == 0 && len(c.Training.Solver.Groups) == 0 {
		return nil
	}
	p, err := layers.Declare(func(s layers.Scope, m ModelConfig) (Model, error) { return m.New(s) }, c.Model)
	if err != nil {
		return config.In(c, "Model", err)
	}
	var names, left []string
	for name := range p.Shapes() {
		names = append(names, name)
	}
	for i, text := range c.Freeze {
		if _, err := pattern.Match(text, names); err != nil {
			return config.Errorf(c, fmt.Sprintf("Freeze[%d]", i), "%w", err)
		}
		if err := p.Freeze(text); err != nil {
			return err
		}
	}
	for _, name := range names {
		if !p.Frozen(name) {
			left = append(left, name)
		}
	}
	if len(left) == 0 {
		return config.Errorf(c, "Freeze", "got patterns of all %d parameters, want at least one left to train", len(names))
	}
	return config.In(c, "Training.Solver", c.Training.Solver.ValidateParams(left))
}
