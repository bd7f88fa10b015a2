package layers

import (
	"fmt"
	"path"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/dense"

	G "gorgonia.org/gorgonia"
)

// change holds the changes that a build makes to the attentions whose paths match a pattern.
type change struct {
	pattern  string
	observed bool      // statistics come with the output
	composed bool      // the output is computed step by step
	mask     mask.Mask // hides more keys; may be nil
	heads    []float64 // factors of the heads' outputs; may be nil
}

// Mask hides more keys from the attentions whose paths match one of the patterns: they see only keys that m also shows.
// This shows how a model behaves without some of its tokens. Call Mask before the attentions are built. m must fit the
// scores of each attention. Patterns are as for Observe.
func (b *Build) Mask(m mask.Mask, patterns ...string) { b.change("change", change{mask: m}, patterns) }

// ScaleHeads multiplies the output of each head, before the output projection, by its factor, in the attentions whose
// paths match one of the patterns: 0 switches a head off. Call ScaleHeads before the attentions are built. factors has
// a number for each head; for differential attention, for each of the two softmaxes of a head. Patterns are as for
// Observe.
func (b *Build) ScaleHeads(factors []float64, patterns ...string) {
	b.change("change", change{heads: factors}, patterns)
}

// change adds a change for each pattern; errors begin with name.
func (b *Build) change(name string, c change, patterns []string) {
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			b.Of(nil, errorf("build", "%s: got %q, want a pattern of path.Match", name, p))
			continue
		}
		c.pattern = p
		b.changes = append(b.changes, c)
	}
}

// changesOf returns the build's changes of the attention at a path.
func (b *Build) changesOf(layer string) (changes []change) {
	for _, c := range b.changes {
		if ok, _ := path.Match(c.pattern, layer); ok {
			changes = append(changes, c)
		}
	}
	return changes
}

// mask returns the conjunction of the masks of the config, the call and the build.
func (s *step) mask() mask.Mask {
	joined := s.config.Mask
	join := func(m mask.Mask) {
		switch {
		case joined == nil:
			joined = m
		case m != nil:
			joined = mask.And(joined, m)
		}
	}
	join(s.in.Mask)
	for _, c := range s.b.changesOf(s.call.Path) {
		join(c.mask)
	}
	return joined
}

// scaleHeads multiplies the heads' outputs x (…, T, H·Dv) by the build's factors.
func (s *step) scaleHeads(x *G.Node) *G.Node {
	for _, c := range s.b.changesOf(s.call.Path) {
		if c.heads == nil || s.Err() != nil {
			continue
		}
		if heads, _, _ := s.config.softmaxes(); len(c.heads) != heads {
			return s.Of(nil, errorf(s.formula.name, "heads: got %d factors, want one for each of the %d heads",
				len(c.heads), heads))
		}
		x = s.Of(graph.Mul(x, s.b.factors(c.heads, last(x)/len(c.heads))))
	}
	return x
}

// factors returns each number repeated n times.
func (b *Build) factors(of []float64, n int) *G.Node {
	all := make([]float64, len(of)*n)
	for i := range all {
		all[i] = of[i/n]
	}
	// Not a constant: Gorgonia merges constants with equal printed forms, and truncates the printed forms.
	name := fmt.Sprintf("factors %v of %d", of, n)
	if in, ok := b.nodes[name]; ok {
		return in
	}
	in := b.Input(name, len(of)*n)
	return b.Of(in, G.Let(in, dense.Of(b.params.Dtype(), all, len(all))))
}
