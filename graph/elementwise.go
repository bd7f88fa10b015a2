package graph

import (
	"fmt"
	"slices"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Exp is eˣ, element by element (torch.exp).
func Exp(x *G.Node) (*G.Node, error) { return apply(exp{}, x) }

// Tanh is the hyperbolic tangent, element by element (torch.tanh).
func Tanh(x *G.Node) (*G.Node, error) { return apply(tanh{}, x) }

// Mul is x⊙y, element by element, for x and y of one shape.
func Mul(x, y *G.Node) (*G.Node, error) { return apply(mul{}, x, y) }

type exp struct{}

func (exp) spec() (string, []arg) { return "Exp", []arg{{name: "x"}} }

func (exp) inPlace() int { return 0 }

func (exp) shape(in []tensor.Shape) (tensor.Shape, error) { return in[0].Clone(), nil }

func (exp) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, expForward[float32], expForward[float64])(out, in)
}

func expForward[F kernel.Float](out *tensor.Dense, in []*tensor.Dense) error {
	kernel.Exp(floats[F](out), floats[F](in[0]))
	return nil
}

// y = eˣ:  dx = dy⊙y.
func (exp) backward(_ G.Nodes, y, dy *G.Node) (G.Nodes, error) {
	dx, err := Mul(dy, y)
	return G.Nodes{dx}, err
}

type tanh struct{}

func (tanh) spec() (string, []arg) { return "Tanh", []arg{{name: "x"}} }

func (tanh) inPlace() int { return 0 }

func (tanh) shape(in []tensor.Shape) (tensor.Shape, error) { return in[0].Clone(), nil }

func (tanh) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, tanhForward[float32], tanhForward[float64])(out, in)
}

func tanhForward[F kernel.Float](out *tensor.Dense, in []*tensor.Dense) error {
	kernel.Tanh(floats[F](out), floats[F](in[0]))
	return nil
}

// y = tanh x:  dx = dy⊙(1 − y²).
func (tanh) backward(_ G.Nodes, y, dy *G.Node) (G.Nodes, error) {
	dx, err := apply(tanhBackward{}, y, dy)
	return G.Nodes{dx}, err
}

type tanhBackward struct{}

func (tanhBackward) spec() (string, []arg) {
	return "TanhBackward", []arg{{name: "y"}, {name: "dy"}}
}

func (tanhBackward) inPlace() int { return 1 }

func (tanhBackward) shape(in []tensor.Shape) (tensor.Shape, error) { return in[0].Clone(), nil }

func (tanhBackward) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, tanhBackwardForward[float32], tanhBackwardForward[float64])(out, in)
}

func tanhBackwardForward[F kernel.Float](out *tensor.Dense, in []*tensor.Dense) error {
	kernel.TanhBackward(floats[F](out), floats[F](in[0]), floats[F](in[1]))
	return nil
}

func (o tanhBackward) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return noSecond(o) }

type mul struct{}

func (mul) spec() (string, []arg) { return "Mul", []arg{{name: "x"}, {name: "y"}} }

func (mul) inPlace() int { return 0 }

func (mul) shape(in []tensor.Shape) (tensor.Shape, error) {
	if !slices.Equal(in[0], in[1]) {
		return nil, &ShapeError{"Mul", "y", in[1], fmt.Sprint(in[0])}
	}
	return in[0].Clone(), nil
}

func (mul) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, mulForward[float32], mulForward[float64])(out, in)
}

func mulForward[F kernel.Float](out *tensor.Dense, in []*tensor.Dense) error {
	kernel.Mul(floats[F](out), floats[F](in[0]), floats[F](in[1]))
	return nil
}

// z = x⊙y:  dx = dz⊙y, dy = dz⊙x.
func (mul) backward(in G.Nodes, _, dz *G.Node) (G.Nodes, error) {
	dx, err := Mul(dz, in[1])
	if err != nil {
		return nil, err
	}
	dy, err := Mul(dz, in[0])
	return G.Nodes{dx, dy}, err
}
