package graph

import (
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// linearBias is z = x + bias, the last step of Linear.
type linearBias[F kernel.Float] struct{ intoFirst }

func (linearBias[F]) spec() (string, []arg) { return "Linear", named("x", "bias") }

func (linearBias[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	x, bias := in[0], in[1]
	if bias.Dims() != 1 || bias[0] != last(x) {
		return nil, &ShapeError{"Linear", "bias", bias, fmt.Sprintf("(Out=%d)", last(x))}
	}
	return x.Clone(), nil
}

func (linearBias[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.AddRows(dense.Floats[F](out), dense.Floats[F](in[0]), dense.Floats[F](in[1]))
	return nil
}

// z = x + bias:  dx = dz, dbias = Σ dz.
func (linearBias[F]) backward(in G.Nodes, _, dz *G.Node) (G.Nodes, error) {
	return summed(sumToAddend, in, dz, dz)
}

// sumToAddend is sumTo for what was added. The last axes, as of a bias, are summed one row
// after the other in the type of x, which is faster.
func sumToAddend(x *G.Node, shape tensor.Shape) (*G.Node, error) {
	lacks := x.Dims() - shape.Dims()
	if lacks == 0 || shape.Dims() == 0 || !slices.Equal(x.Shape()[lacks:], shape) {
		return sumTo(x, shape)
	}
	return applyTyped(sumLeading[float32]{Keep: shape.Dims()}, sumLeading[float64]{Keep: shape.Dims()}, x)
}

type sumLeading[F kernel.Float] struct {
	isGradient
	Keep int
}

func (sumLeading[F]) spec() (string, []arg) { return "SumLeading", named("x") }

func (o sumLeading[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	return in[0][in[0].Dims()-o.Keep:].Clone(), nil
}

func (sumLeading[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.SumRows(dense.Floats[F](out), dense.Floats[F](in[0]))
	return nil
}
