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
	return applyTyped(concat[float32]{len(xs)}, concat[float64]{len(xs)}, xs...)
}

type concat[F kernel.Float] struct{ N int }

func (o concat[F]) spec() (string, []arg) {
	args := make([]arg, o.N)
	for i := range args {
		args[i].name = fmt.Sprintf("xs[%d]", i)
	}
	return "Concat", args
}

func (o concat[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	first := in[0]
	if first.Dims() == 0 {
		return nil, &ShapeError{"Concat", "xs[0]", first, "(…, E)"}
	}
	y := first.Clone()
	for i, x := range in[1:] {
		n := x.Dims()
		if n != first.Dims() || !slices.Equal(x[:n-1], first[:n-1]) {
			return nil, &ShapeError{"Concat", fmt.Sprintf("xs[%d]", i+1), x,
				fmt.Sprintf("%v but for the last axis", first)}
		}
		y[n-1] += x[n-1]
	}
	return y, nil
}

func (concat[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	y, cols, from := dense.Floats[F](out), last(out.Shape()), 0
	for _, t := range in {
		x, w := dense.Floats[F](t), last(t.Shape())
		for r := 0; r*w < len(x); r++ {
			copy(y[r*cols+from:][:w], x[r*w:])
		}
		from += w
	}
	return nil
}

// y = [x₁ x₂ …]:  dxᵢ = the columns of dy that xᵢ filled.
func (concat[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	widths := make([]int, len(in))
	for i, x := range in {
		widths[i] = last(x.Shape())
	}
	return Split(dy, widths...)
}
