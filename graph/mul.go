package graph

import (
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Mul returns x⊙y, element by element, for x and y of one shape (torch.mul).
func Mul(x, y *G.Node) (*G.Node, error) { return applyTyped(mul[float32]{}, mul[float64]{}, x, y) }

type mul[F kernel.Float] struct{ intoFirst }

func (mul[F]) spec() (string, []arg) { return "Mul", named("x", "y") }

func (mul[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	return in[0].Clone(), checkSameShape("Mul", "y", in)
}

func (mul[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.Mul(floats[F](out), floats[F](in[0]), floats[F](in[1]))
	return nil
}

// z = x⊙y:  dx = dz⊙y, dy = dz⊙x.
func (mul[F]) backward(in G.Nodes, _, dz *G.Node) (G.Nodes, error) {
	dx, err := Mul(dz, in[1])
	if err != nil {
		return nil, err
	}
	dy, err := Mul(dz, in[0])
	return G.Nodes{dx, dy}, err
}
