package graph

import (
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Softmax is exp(x)/Σexp(x) over the last axis (torch.softmax, dim -1), each row
// shifted by its own maximum so that scores of any size are safe. A row that is
// −∞ throughout gives zeros and passes no gradient.
func Softmax(x *G.Node) (*G.Node, error) { return apply(softmax{}, x) }

type softmax struct{}

func (softmax) spec() (string, []arg) { return "Softmax", []arg{{name: "x"}} }

func (softmax) inPlace() int { return 0 }

func (softmax) shape(in []tensor.Shape) (tensor.Shape, error) {
	if in[0].Dims() == 0 {
		return nil, &ShapeError{"Softmax", "x", in[0], "(…, S)"}
	}
	return in[0].Clone(), nil
}

func (softmax) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, softmaxForward[float32], softmaxForward[float64])(out, in)
}

func softmaxForward[F kernel.Float](out *tensor.Dense, in []*tensor.Dense) error {
	kernel.Softmax(floats[F](out), floats[F](in[0]), last(in[0].Shape()))
	return nil
}

// y = softmax(x):  dx = y⊙(dy − Σ dy⊙y).
func (softmax) backward(_ G.Nodes, y, dy *G.Node) (G.Nodes, error) {
	dx, err := apply(softmaxBackward{}, y, dy)
	return G.Nodes{dx}, err
}

type softmaxBackward struct{}

func (softmaxBackward) spec() (string, []arg) {
	return "SoftmaxBackward", []arg{{name: "y"}, {name: "dy"}}
}

func (softmaxBackward) inPlace() int { return 1 }

func (softmaxBackward) shape(in []tensor.Shape) (tensor.Shape, error) { return in[0].Clone(), nil }

func (softmaxBackward) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, softmaxBackwardForward[float32], softmaxBackwardForward[float64])(out, in)
}

func softmaxBackwardForward[F kernel.Float](out *tensor.Dense, in []*tensor.Dense) error {
	kernel.SoftmaxBackward(floats[F](out), floats[F](in[0]), floats[F](in[1]), last(in[0].Shape()))
	return nil
}

func (o softmaxBackward) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return noSecond(o) }
