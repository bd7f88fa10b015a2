package layers

import (
	"errors"
	"fmt"

	"attention/internal/pattern"
)

// Freeze makes training leave parameters as they are (requires_grad_(False)): it computes
// no gradient of them, and none of layers below which all is frozen. Only the few of a norm
// come with those of its input, and are not used.
//
// Frozen are all parameters made so far that a pattern matches: "transformer.wte.weight" by
// name, "wte" or "h.0" by a part of it between dots, "h.*.mlp" and "ln_?" as in path.Match.
// It is for the steps and gradients that are built afterwards. A pattern that matches no
// parameter is an error, which names the nearest and freezes nothing.
func (p *Params) Freeze(patterns ...string) error { return p.setFrozen(true, patterns) }

// Unfreeze makes parameters trainable that Freeze froze, for the steps that are built
// afterwards (requires_grad_(True)). Patterns are those of Freeze.
func (p *Params) Unfreeze(patterns ...string) error { return p.setFrozen(false, patterns) }

// Frozen reports whether the named parameter is frozen.
func (p *Params) Frozen(name string) bool { return p != nil && p.frozen[name] }

// CountFrozen returns the number of elements in the frozen parameters, of the Count in all.
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
	if p == nil {
		return errors.New("layers: freeze: got nil for the parameters, want Params")
	}
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
	for _, name := range names {
		p.frozen[name] = frozen
	}
	return nil
}
