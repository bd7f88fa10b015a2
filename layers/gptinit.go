package layers

import (
	"strings"

	"attention/internal/torchrand"

	"gorgonia.org/tensor"
)

// beginAsTorch prepares the scope for a GPT whose parameters begin as PyTorch's modules do. It
// returns a function that draws the parameters in their order, once they are made. If queries,
// keys and values have no bias, a model with an nn.Linear for each of the three draws the same
// numbers.
func (s Scope) beginAsTorch() (draw func()) {
	p := s.params
	if p == nil || p.start != drawn {
		return func() {}
	}
	made := len(p.names)
	p.start = blank
	return func() {
		p.start = drawn
		var in int // of the product whose bias comes next
		for _, name := range p.names[made:] {
			in = beginOne(p.random, name, p.values[name], in)
		}
	}
}

// beginOne draws a parameter of a GPT. in is the inner axis of the product whose bias may come
// next; the result is in for the next parameter.
func beginOne(random *torchrand.Generator, name string, v *tensor.Dense, in int) int {
	shape := v.Shape()
	switch {
	case strings.Contains(name, ".ln_") && strings.HasSuffix(name, ".weight"):
		Constant(1).fill(random, v)
	case strings.Contains(name, ".ln_"):
	case strings.HasSuffix(name, ".bias"):
		linearBias(in).fill(random, v)
	case strings.HasSuffix(name, ".wte.weight"), strings.HasSuffix(name, ".wpe.weight"):
		Normal(0, 1).fill(random, v)
	case strings.HasSuffix(name, "lm_head.weight"): // (V, E), as nn.Linear has it
		linearWeight(shape[1]).fill(random, v)
	default: // (in, out), and nn.Linear draws (out, in)
		in = shape[0]
		rows := tensor.New(tensor.Of(v.Dtype()), tensor.WithShape(shape[1], in))
		linearWeight(in).fill(random, rows)
		for row := range shape[1] {
			copyRow(v, place{at: row, step: shape[1]}, rows, place{at: row * in, step: 1}, in)
		}
	}
	return in
}
