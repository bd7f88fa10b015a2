package graph

import (
	"fmt"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// FusedAttentionPacked is FusedAttention of queries, keys and values that lie side by side
// in the rows of qkv, as one product makes them: H·D, K·D and K·Dv columns, the widths. It
// is FusedAttention of what Split makes of qkv, to the bit if D and Dv are 2 or more, but
// reads them where they lie and writes their gradients there. qkv is (…, T, H·D + K·D + K·Dv), with the c.Heads = H
// of each side by side.
func FusedAttentionPacked(qkv *G.Node, widths [3]int, c AttentionConfig) (*G.Node, error) {
	a, p, err := c.resolvePacked(qkv, widths)
	if err != nil {
		return nil, err
	}
	return a.fuse(p, qkv)
}

// resolvePacked checks the arguments of an attention whose q, k and v lie side by side.
func (c AttentionConfig) resolvePacked(qkv *G.Node, widths [3]int) (*attentionArgs, packing, error) {
	const name = "FusedAttentionPacked"
	if err := checkArgs(name, named("qkv"), G.Nodes{qkv}); err != nil {
		return nil, separate, err
	}
	p, shape := packing(widths), qkv.Shape()
	if min(widths[0], widths[1], widths[2]) < 1 {
		return nil, separate, fmt.Errorf("graph: %s: widths: got %v, want three of at least 1", name, widths)
	}
	if c.Heads < 1 {
		return nil, separate, fmt.Errorf("graph: %s: heads: got %d, want at least 1", name, c.Heads)
	}
	if shape.Dims() < 2 || last(shape) != p.row() {
		return nil, separate, &ShapeError{name, "qkv", shape, fmt.Sprintf("(…, T, %d) for widths %v", p.row(), widths)}
	}
	parts := p.shapes(shape)
	a, err := c.resolveShapes("FusedAttention", qkv, parts[0], parts[1], parts[2])
	if err != nil {
		return nil, p, err
	}
	return a, p, a.choose(p, qkv)
}

// packing is the widths of queries, keys and values that lie side by side in the rows of
// one tensor.
type packing [3]int

// separate is the packing of q, k and v that are tensors of their own.
var separate packing

// row is the width of all three.
func (p packing) row() int { return p[0] + p[1] + p[2] }

// shapes returns the shapes of q, k and v within a tensor.
func (p packing) shapes(qkv tensor.Shape) (parts [3]tensor.Shape) {
	for i, width := range p {
		parts[i] = qkv.Clone()
		parts[i][len(parts[i])-1] = width
	}
	return parts
}

// heads returns the shapes of q, k and v for inputs of these shapes.
func (f fused) heads(in []tensor.Shape) (q, k, v tensor.Shape) {
	if f.OneHead {
		return in[0], in[1], append(in[1][:len(in[1])-1].Clone(), 0)
	}
	if f.Packed == separate {
		return in[0], in[1], in[2]
	}
	parts := f.Packed.shapes(in[0])
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

// shapesOf returns the shapes of tensors or nodes, nil of one that is missing.
func shapesOf[T interface {
	comparable
	Shape() tensor.Shape
}](all []T) []tensor.Shape {
	var missing T
	shapes := make([]tensor.Shape, len(all))
	for i, x := range all {
		if x != missing {
			shapes[i] = x.Shape()
		}
	}
	return shapes
}
