package graph

import "gorgonia.org/tensor"

// packing is the widths of queries, keys and values that are side by side in the rows of
// one tensor.
type packing [3]int

// separate is the packing of q, k and v in three tensors.
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
