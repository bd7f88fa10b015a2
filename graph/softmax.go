package graph

import (
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Softmax returns exp(x)/Σexp(x) over the last axis (torch.softmax, dim -1), each row
// shifted by its own maximum so that scores of any size are safe. A row that is −∞
// throughout gives zeros and passes no gradient.
func Softmax(x *G.Node) (*G.Node, error) {
	return applyTyped(softmax[float32]{}, softmax[float64]{}, x)
}

type softmax[F kernel.Float] struct{ intoFirst }

func (softmax[F]) spec() (string, []arg) { return "Softmax", named("x") }

func (softmax[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	if in[0].Dims() == 0 {
		return nil, &ShapeError{"Softmax", "x", in[0], "(…, S)"}
	}
	return in[0].Clone(), nil
}

func (softmax[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.Softmax(floats[F](out), floats[F](in[0]), last(in[0].Shape()))
	return nil
}

// y = softmax(x):  dx = y⊙(dy − Σ dy⊙y).
func (softmax[F]) backward(_ G.Nodes, y, dy *G.Node) (G.Nodes, error) {
	return only(apply(softmaxBackward[F]{}, y, dy))
}

type softmaxBackward[F kernel.Float] struct {
	sameShape
	intoSecond
	isGradient
}

func (softmaxBackward[F]) spec() (string, []arg) {
	return "SoftmaxBackward", named("y", "dy")
}

func (softmaxBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.SoftmaxBackward(floats[F](out), floats[F](in[0]), floats[F](in[1]), last(in[0].Shape()))
	return nil
}
