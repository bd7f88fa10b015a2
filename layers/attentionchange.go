package layers

import (
	"fmt"
	"path"

	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A change is what a build does otherwise in the attentions whose paths match a pattern.
type change struct {
	pattern string
	mask    mask.Mask // what else hides keys; may be nil
	heads   []float64 // factors of the heads' outputs; may be nil
}

// Mask hides more keys from the attentions whose paths match one of the patterns, which are those of Observe: they see
// only the keys that m shows too. It is called before they are built, to see what a model does without some of its
// tokens. The mask has to fit the scores of each of them.
func (b *Build) Mask(m mask.Mask, patterns ...string) { b.change(change{mask: m}, patterns) }

// ScaleHeads multiplies the output of each head, before the output projection, by its factor in the attentions whose
// paths match one of the patterns, which are those of Observe: 0 switches a head off. It is called before they are
// built. factors has one number for each of their heads.
func (b *Build) ScaleHeads(factors []float64, patterns ...string) {
	b.change(change{heads: factors}, patterns)
}

func (b *Build) change(c change, patterns []string) {
	if b.made() != nil {
		return
	}
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			b.Of(nil, errorf("build", "change: got %q, want a pattern of path.Match", p))
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

// scaleHeads multiplies the heads' outputs x (…, T, H·Dv) by the build's factors.
func (s *step) scaleHeads(x *G.Node) *G.Node {
	for _, c := range s.b.changesOf(s.call.Path) {
		if c.heads == nil || s.Err() != nil {
			continue
		}
		if len(c.heads) != s.config.NumHeads {
			return s.Of(nil, errorf(s.formula.name, "heads: got %d factors, want one for each of the %d heads",
				len(c.heads), s.config.NumHeads))
		}
		x = s.Of(graph.Mul(x, s.b.factors(c.heads, last(x)/len(c.heads))))
	}
	return x
}

// factors returns each number n times.
func (b *Build) factors(of []float64, n int) *G.Node {
	t := tensor.New(tensor.Of(b.params.Dtype()), tensor.WithShape(len(of)*n))
	for i := range len(of) * n {
		if v := of[i/n]; b.params.Dtype() == tensor.Float32 {
			t.Float32s()[i] = float32(v)
		} else {
			t.Float64s()[i] = v
		}
	}
	// Not a constant, which would merge with another whose print, which is cut, is the same.
	name := fmt.Sprintf("factors %v of %d", of, n)
	if in, ok := b.nodes[name]; ok {
		return in
	}
	in := b.Input(name, len(of)*n)
	return b.Of(in, G.Let(in, t))
}
