package layers

import (
	"fmt"

	"attention/internal/pattern"
)

// Freeze excludes parameters from training (requires_grad_(False)): steps and gradients that are built afterwards
// compute no gradient of them. A layer gets no gradient at all if its parameters and those of all layers before it are
// frozen. Only a norm computes the few gradients of its parameters together with that of its input; they are not used.
//
// It freezes all existing parameters that a pattern matches: "transformer.wte.weight" by name, "wte" or "h.0" by a part
// of the name between dots, "h.*.mlp" and "ln_?" as in path.Match. A pattern that matches no parameter is an error,
// which names the most similar name; nothing is frozen then.
func (p *Params) Freeze(patterns ...string) error { return p.setFrozen(true, patterns) }

// Unfreeze makes frozen parameters trainable again, for the steps that are built afterwards (requires_grad_(True)).
// Patterns are as in Freeze.
func (p *Params) Unfreeze(patterns ...string) error { return p.setFrozen(false, patterns) }

// Frozen reports whether the named parameter is frozen.
func (p *Params) Frozen(name string) bool { return p.frozen[name] }

// CountFrozen returns the number of elements in the frozen parameters.
func (p *Params) CountFrozen() int {
	n := 0
	for name, s := range p.Shapes() {
		if p.Frozen(name) {
			n += s.TotalSize()
		}
	}
	return n
}

func (p *Params) setFrozen(frozen bool, patterns []string) error {
	var names []string
	for _, pat := range patterns {
		matched, err := pattern.Match(pat, p.names)
		if err != nil {
			return fmt.Errorf("layers: freeze: %w", err)
		}
		names = append(names, matched...)
	}
	if p.frozen == nil {
		p.frozen = map[string]bool{}
	}
	p.version++
	for _, name := range names {
		p.frozen[name] = frozen
	}
	return nil
}
