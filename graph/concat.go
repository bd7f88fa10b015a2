package graph

import (
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Concat returns nodes (…, Eᵢ) joined along the last axis (torch.cat, dim -1).
func Concat(xs ...*G.Node) (*G.Node, error) {
	if len(xs) == 0 {
		return nil, fmt.Errorf("graph: Concat: xs: got none, want at least one node")
	}
	return concatAlong(-1, xs...)
}

// concatAlong returns nodes joined along an axis, counted from the last, −1.
func concatAlong(axis int, xs ...*G.Node) (*G.Node, error) {
	return applyTyped(concat[float32]{len(xs), axis}, concat[float64]{len(xs), axis}, xs...)
}

// concat copies its inputs side by side. It is an op because no other op joins tensors.
type concat[F kernel.Float] struct{ N, Axis int }

func (o concat[F]) spec() spec {
	args := make([]arg, o.N)
	for i := range args {
		args[i].name = fmt.Sprintf("xs[%d]", i)
	}
	return spec{name: "Concat", args: args}
}

func (o concat[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	y, axis := in[0].Clone(), in[0].Dims()+o.Axis
	if axis < 0 {
		return nil, &ShapeError{"Concat", "xs[0]", y, "(…, E)"}
	}
	for i, x := range in[1:] {
		if x.Dims() != y.Dims() || !slices.Equal(x[:axis], y[:axis]) || !slices.Equal(x[axis+1:], y[axis+1:]) {
			return nil, &ShapeError{"Concat", fmt.Sprintf("xs[%d]", i+1), x,
				fmt.Sprintf("%v except the axis that is joined", in[0])}
		}
		y[axis] += x[axis]
	}
	return y, nil
}

func (o concat[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	y, cols, from := dense.Floats[F](out), o.width(out.Shape()), 0
	for _, t := range in {
		x, w := dense.Floats[F](t), o.width(t.Shape())
		for r := 0; r*w < len(x); r++ {
			copy(y[r*cols+from:][:w], x[r*w:])
		}
		from += w
	}
	return nil
}

// width returns the number of adjacent elements that one node contributes.
func (o concat[F]) width(s tensor.Shape) int { return s[len(s)+o.Axis:].TotalSize() }

// y = [x₁ x₂ …]:  dxᵢ = the part of dy that xᵢ filled.
func (o concat[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	lengths := make([]int, len(in))
	for i, x := range in {
		lengths[i] = x.Shape()[x.Dims()+o.Axis]
	}
	return splitAlong(dy, o.Axis, lengths)
}
