package graph

import (
	"fmt"
	"slices"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Add returns x + y, where y's shape is x's or its last axes: a bias (E) or positions
// (T, E) are added to every part of x (B, T, E).
func Add(x, y *G.Node) (*G.Node, error) { return applyTyped(add[float32]{}, add[float64]{}, x, y) }

// add is z = x + y; as the last step of Linear, y is its bias.
type add[F kernel.Float] struct {
	intoFirst
	Bias bool
}

func (o add[F]) spec() (string, []arg) {
	if o.Bias {
		return "Linear", named("x", "bias")
	}
	return "Add", named("x", "y")
}

func (o add[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	x, y := in[0], in[1]
	if o.Bias && (y.Dims() != 1 || y[0] != last(x)) {
		return nil, &ShapeError{"Linear", "bias", y, fmt.Sprintf("(Out=%d)", last(x))}
	}
	if y.Dims() > x.Dims() || !slices.Equal(x[x.Dims()-y.Dims():], y) {
		return nil, &ShapeError{"Add", "y", y, fmt.Sprintf("%v or its last axes", x)}
	}
	return x.Clone(), nil
}

func (add[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.AddRows(floats[F](out), floats[F](in[0]), floats[F](in[1]))
	return nil
}

// z = x + y:  dx = dz, dy = Σ dz over the axes that y lacks.
func (add[F]) backward(in G.Nodes, _, dz *G.Node) (G.Nodes, error) {
	dy, err := sumTo(dz, in[1].Shape())
	return G.Nodes{dz, dy}, err
}

// sumTo sums x over the leading axes that shape lacks.
func sumTo(x *G.Node, shape tensor.Shape) (*G.Node, error) {
	if x.Dims() == shape.Dims() {
		return x, nil
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
	kernel.SumRows(floats[F](out), floats[F](in[0]))
	return nil
}
