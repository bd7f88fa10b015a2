package graph

import (
	"fmt"
	"slices"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Add is x + y, where y's shape is x's or the tail of it: a bias (E) or
// positions (T, E) are added to every part of x (B, T, E).
func Add(x, y *G.Node) (*G.Node, error) { return apply(add{}, x, y) }

// add is z = x + y; as the last step of Linear, y is its bias.
type add struct{ Bias bool }

func (o add) spec() (string, []arg) {
	if o.Bias {
		return "Linear", []arg{{name: "x"}, {name: "bias"}}
	}
	return "Add", []arg{{name: "x"}, {name: "y"}}
}

func (add) inPlace() int { return 0 }

func (o add) shape(in []tensor.Shape) (tensor.Shape, error) {
	x, y := in[0], in[1]
	if o.Bias && (y.Dims() != 1 || y[0] != last(x)) {
		return nil, &ShapeError{"Linear", "bias", y, fmt.Sprintf("(Out=%d)", last(x))}
	}
	if y.Dims() > x.Dims() || !slices.Equal(x[x.Dims()-y.Dims():], y) {
		return nil, &ShapeError{"Add", "y", y, fmt.Sprintf("%v or its last axes", x)}
	}
	return x.Clone(), nil
}

func (add) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, addForward[float32], addForward[float64])(out, in)
}

func addForward[F kernel.Float](out *tensor.Dense, in []*tensor.Dense) error {
	kernel.AddRows(floats[F](out), floats[F](in[0]), floats[F](in[1]))
	return nil
}

// z = x + y:  dx = dz, dy = Σ dz over the axes that y lacks.
func (add) backward(in G.Nodes, _, dz *G.Node) (G.Nodes, error) {
	dy, err := sumTo(dz, in[1].Shape())
	return G.Nodes{dz, dy}, err
}

// sumTo sums x over the leading axes that shape lacks.
func sumTo(x *G.Node, shape tensor.Shape) (*G.Node, error) {
	if x.Dims() == shape.Dims() {
		return x, nil
	}
	return apply(sumLeading{Keep: shape.Dims()}, x)
}

type sumLeading struct{ Keep int }

func (sumLeading) spec() (string, []arg) { return "SumLeading", []arg{{name: "x"}} }

func (o sumLeading) shape(in []tensor.Shape) (tensor.Shape, error) {
	return in[0][in[0].Dims()-o.Keep:].Clone(), nil
}

func (o sumLeading) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, sumLeadingForward[float32], sumLeadingForward[float64])(out, in)
}

func sumLeadingForward[F kernel.Float](out *tensor.Dense, in []*tensor.Dense) error {
	kernel.SumRows(floats[F](out), floats[F](in[0]))
	return nil
}

func (o sumLeading) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return noSecond(o) }
