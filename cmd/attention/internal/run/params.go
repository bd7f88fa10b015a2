package run

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

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

// groupFlag is the flag of the solver's groups.
const groupFlag = "group"

// groupOf returns a value of --group, as in h.0:lr_factor=0.1,weight_decay=0, as JSON.
func groupOf(text string) (config.Tree, error) {
	const want = "PATTERN:lr_factor=NUMBER, PATTERN:weight_decay=NUMBER or both, with a comma"
	wrong := fmt.Errorf("got %.80q, want %s", text, want)
	params, settings, ok := cutLast(text, ":")
	if !ok {
		return nil, wrong
	}
	t := config.Tree{"params": params}
	for setting := range strings.SplitSeq(settings, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(setting), "=")
		x, err := strconv.ParseFloat(value, 64)
		if !ok || err != nil || t[key] != nil {
			return nil, wrong
		}
		number, err := json.Marshal(x)
		if err != nil { // NaN or an infinity
			return nil, wrong
		}
		t[key] = json.Number(number)
	}
	return t, nil
}

// cutLast is strings.Cut at the last separator.
func cutLast(text, separator string) (before, after string, ok bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}
