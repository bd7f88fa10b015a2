package layers

import (
	"strings"

	"attention/internal/torchrand"

	"gorgonia.org/tensor"
)

// beginAsTorch prepares the scope for a GPT whose parameters begin as PyTorch's modules do, with an nn.Linear for each
// of queries, keys and values, which are widths wide in c_attn. It returns a function that draws the parameters in
// their order, once they are made.
func (s Scope) beginAsTorch(widths [3]int) (draw func()) {
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
			if parent, ok := strings.CutSuffix(name, ".c_attn.weight"); ok {
				beginAttention(p.random, p.values[name], p.values[parent+".c_attn.bias"], widths)
				continue
			}
			in = beginOne(p.random, name, p.values[name], in)
		}
	}
}

// beginAttention draws queries, keys and values one after the other, each its weights, then its biases; bias is nil if
// they have none.
func beginAttention(random *torchrand.Generator, weight, bias *tensor.Dense, widths [3]int) {
	in, from := weight.Shape()[0], 0
	for _, width := range widths {
		beginColumns(random, weight, from, width)
		if bias != nil {
			part := tensor.New(tensor.Of(bias.Dtype()), tensor.WithShape(width))
			linearBias(in).fill(random, part)
			copyRow(bias, place{at: from, step: 1}, part, place{step: 1}, width)
		}
		from += width
	}
}

// beginColumns draws columns of a weight (in, out). nn.Linear has it, and draws it, as (out, in).
func beginColumns(random *torchrand.Generator, weight *tensor.Dense, from, width int) {
	in, out := weight.Shape()[0], weight.Shape()[1]
	rows := tensor.New(tensor.Of(weight.Dtype()), tensor.WithShape(width, in))
	linearWeight(in).fill(random, rows)
	for row := range width {
		copyRow(weight, place{at: from + row, step: out}, rows, place{at: row * in, step: 1}, in)
	}
}

// beginOne draws another parameter of a GPT. in is the inner axis of the product whose bias may come
// next; the result is in for the next parameter.
func beginOne(random *torchrand.Generator, name string, v *tensor.Dense, in int) int {
	shape := v.Shape()
	switch {
	case strings.Contains(name, ".ln_") && strings.HasSuffix(name, ".weight"):
		Constant(1).fill(random, v)
	case strings.Contains(name, ".ln_"), strings.HasSuffix(name, ".c_attn.bias"): // 0, or drawn with the weight
	case strings.HasSuffix(name, ".bias"):
		linearBias(in).fill(random, v)
	case strings.HasSuffix(name, ".wte.weight"), strings.HasSuffix(name, ".wpe.weight"):
		Normal(0, 1).fill(random, v)
	case strings.HasSuffix(name, "lm_head.weight"): // (V, E), as nn.Linear has it
		linearWeight(shape[1]).fill(random, v)
	default:
		in = shape[0]
		beginColumns(random, v, 0, shape[1])
	}
	return in
}
