package settings

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"attention/internal/config"
	"attention/internal/pattern"
	"attention/layers"
	"attention/train"
	"attention/train/text"
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
	for i, name := range c.Freeze {
		if _, err := pattern.Match(name, names); err != nil {
			return config.Errorf(c, fmt.Sprintf("Freeze[%d]", i), "%w", err)
		}
		if err := p.Freeze(name); err != nil {
			return err
		}
	}
	for _, name := range names {
		if !p.Frozen(name) {
			left = append(left, name)
		}
	}
	if len(left) == 0 {
		return config.Errorf(c, "Freeze", "got patterns of all %d parameters, want at least one left to train",
			len(names))
	}
	return config.In(c, "Training.Solver", c.Training.Solver.ValidateParams(left))
}

// parseGroup reads a group from one line, as in "h.0:lr_factor=0.1,weight_decay=0".
func parseGroup(line string) (g train.ParamGroup, err error) {
	wrong := fmt.Errorf("got %.80q, want PATTERN:lr_factor=NUMBER, PATTERN:weight_decay=NUMBER, PATTERN:solver=adamw or "+
		"several, with commas", line)
	colon := strings.LastIndex(line, ":")
	if colon < 0 {
		return g, wrong
	}
	fields := map[string]any{"params": line[:colon]}
	for setting := range strings.SplitSeq(line[colon+1:], ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(setting), "=")
		if !ok || fields[key] != nil {
			return g, wrong
		}
		if key == "solver" {
			fields[key] = value
			continue
		}
		if fields[key], err = strconv.ParseFloat(value, 64); err != nil {
			return g, wrong
		}
	}
	text, err := json.Marshal(fields)
	if err != nil { // a number is NaN or infinite
		return g, wrong
	}
	return g, config.Decode(text, &g)
}

// parseStage reads a stage of short windows from a word, as in "16:80".
func parseStage(word string) (s text.GrowthStage, err error) {
	context, steps, _ := strings.Cut(word, ":")
	if s.Context, err = strconv.Atoi(context); err == nil {
		s.Steps, err = strconv.Atoi(steps)
	}
	if err != nil {
		return s, fmt.Errorf("got %.80q, want TOKENS:STEPS, or %s", word, noGrowth)
	}
	return s, nil
}
