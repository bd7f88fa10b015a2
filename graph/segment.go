package graph

import "gorgonia.org/tensor"

// segment is the part of a vector that begins at From, as a tensor of a shape.
type segment struct {
	isGradient
	From  int
	Shape tensor.Shape
}

func (segment) spec() (string, []arg) { return "Segment", named("x") }

func (o segment) shape([]tensor.Shape) (tensor.Shape, error) { return o.Shape.Clone(), nil }

func (o segment) view(int) (input, from int) { return 0, o.From }

func (o segment) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return copyFrom(out, in[0], o.From)
}

func copyFrom(out, in *tensor.Dense, from int) error {
	if out.Dtype() == tensor.Float32 {
		copy(out.Float32s(), in.Float32s()[from:])
	} else {
		copy(out.Float64s(), in.Float64s()[from:])
	}
	return nil
}
