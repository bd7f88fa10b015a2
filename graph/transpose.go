package graph

import (
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Transpose returns xᵀ (Out, In) of a matrix x (In, Out). It turns a weight with one row per input, such as GPT-2's,
// into a weight for Linear.
func Transpose(x *G.Node) (*G.Node, error) {
	in, err := checked("Transpose", named("x"), x)
	if err != nil {
		return nil, err
	}
	s := in[0].Shape()
	if s.Dims() != 2 {
		return nil, &ShapeError{"Transpose", "x", s, "(In, Out)"}
	}
	return permute("Transpose", in[0], s, []int{1, 0}, tensor.Shape{s[1], s[0]})
}

// permuted is an array of these lengths with its axes in another order. It is an op because no other op moves axes.
type permuted[F kernel.Float] struct {
	outShape
	Name        string
	Lengths     []int
	Order       []int
	Permutation kernel.Permutation
}

// permute returns x, seen as an array of these lengths, with axis order[i] in place of axis i, in the shape out.
func permute(name string, x *G.Node, lengths, order []int, out tensor.Shape) (*G.Node, error) {
	p := kernel.NewPermutation(lengths, order)
	return applyTyped(permuted[float32]{outShape{out}, name, lengths, order, p},
		permuted[float64]{outShape{out}, name, lengths, order, p}, x)
}

func (o permuted[F]) spec() spec { return spec{name: o.Name, args: named("x")} }

func (o permuted[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.Permute(dense.Floats[F](out), dense.Floats[F](in[0]), o.Permutation)
	return nil
}

// backward permutes the axes of dy back.
func (o permuted[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	lengths, back := make([]int, len(o.Order)), make([]int, len(o.Order))
	for i, axis := range o.Order {
		lengths[i], back[axis] = o.Lengths[axis], i
	}
	return only(permute(o.Name+"Backward", dy, lengths, back, in[0].Shape()))
}
