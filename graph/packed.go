package graph

import (
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// packing is the widths of queries, keys and values that lie side by side in the rows of
// one tensor, as one product makes them; all 0 if they are tensors of their own.
type packing [3]int

func (p packing) row() int { return p[0] + p[1] + p[2] }

// pack makes q, k and v one input if they are what Split makes of one node: the kernel
// reads them where they lie, and writes their gradients there.
func (f fused) pack(in G.Nodes) (fused, G.Nodes) {
	var x *G.Node
	var widths packing
	for i, n := range in[:3] {
		o, _ := n.Op().(op)
		taken, ok := o.body.(interface{ asPart() part })
		if !ok {
			return f, in
		}
		p := taken.asPart()
		if p.Of != splitName || p.From != widths.row() {
			return f, in
		}
		switch of := inputs(n)[0]; {
		case x == nil:
			x = of
		case x != of:
			return f, in
		}
		widths[i] = p.Width
	}
	if f.Heads == 0 || widths.row() != last(x.Shape()) {
		return f, in
	}
	f.Packed = widths
	f.in = append([]fusedInput{{arg{name: "qkv"}, queriesKeysValues}}, f.in[3:]...)
	return f, append(G.Nodes{x}, in[3:]...)
}

// heads are the shapes of q, k and v, of those of the inputs.
func (f fused) heads(in []tensor.Shape) (q, k, v tensor.Shape) {
	if f.Packed.row() == 0 {
		return in[0], in[1], in[2]
	}
	var parts [3]tensor.Shape
	for i, w := range f.Packed {
		parts[i] = in[0].Clone()
		parts[i][len(parts[i])-1] = w
	}
	return parts[0], parts[1], parts[2]
}

// give hands the kernel an argument, or where to write its gradient.
func give[F kernel.Float](f fused, x *kernel.QKV[F], r role, data []F) {
	switch r {
	case queriesKeysValues:
		x.Q, x.K, x.V = data, data[f.Packed[0]:], data[f.Packed[0]+f.Packed[1]:]
	case queries:
		x.Q = data
	case keys:
		x.K = data
	case values:
		x.V = data
	case bias:
		x.Bias = data
	case relativeBias:
		x.Relative = data
	case sinks:
		x.Sinks = data
	}
}

func shapesOf(tensors []*tensor.Dense) []tensor.Shape {
	shapes := make([]tensor.Shape, len(tensors))
	for i, t := range tensors {
		shapes[i] = t.Shape()
	}
	return shapes
}
