package graph

import (
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// LogSoftmax returns x − log Σexp(x) over the last axis (torch.log_softmax, dim -1), each
// row shifted by its own maximum so that scores of any size are safe. A row that is −∞
// throughout stays so and passes no gradient.
func LogSoftmax(x *G.Node) (*G.Node, error) {
	return applyTyped(logSoftmax[float32]{}, logSoftmax[float64]{}, x)
}

type logSoftmax[F kernel.Float] struct{ intoFirst }

func (logSoftmax[F]) spec() (string, []arg) { return "LogSoftmax", named("x") }

func (logSoftmax[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	if in[0].Dims() == 0 {
		return nil, &ShapeError{"LogSoftmax", "x", in[0], "(…, S)"}
	}
	return in[0].Clone(), nil
}

func (logSoftmax[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.LogSoftmax(dense.Floats[F](out), dense.Floats[F](in[0]), last(in[0].Shape()))
	return nil
}

// y = log softmax(x):  dx = dy − exp(y)·Σ dy.
func (logSoftmax[F]) backward(_ G.Nodes, y, dy *G.Node) (G.Nodes, error) {
	return only(apply(logSoftmaxBackward[F]{}, y, dy))
}

type logSoftmaxBackward[F kernel.Float] struct {
	sameShape
	intoSecond
	isGradient
}

func (logSoftmaxBackward[F]) spec() (string, []arg) { return "LogSoftmaxBackward", named("y", "dy") }

func (logSoftmaxBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	kernel.LogSoftmaxBackward(dense.Floats[F](out), dense.Floats[F](in[0]), dense.Floats[F](in[1]), last(in[0].Shape()))
	return nil
}
