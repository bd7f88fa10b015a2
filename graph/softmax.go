package graph

import (
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Softmax returns exp(x)/Σexp(x) over the last axis (torch.softmax, dim -1), each row
// shifted by its own maximum so that scores of any size are safe. A row that is −∞
// throughout gives zeros and passes no gradient.
func Softmax(x *G.Node) (*G.Node, error) { return applyRows("Softmax", x) }

// LogSoftmax returns x − log Σexp(x) over the last axis (torch.log_softmax, dim -1), each
// row shifted by its own maximum so that scores of any size are safe. A row that is −∞
// throughout stays so and passes no gradient.
func LogSoftmax(x *G.Node) (*G.Node, error) { return applyRows("LogSoftmax", x) }

// rows is a function of every row: Softmax or LogSoftmax. It is an op because a formula of Max, Sub, Exp, Sum and Div
// takes 1.7 to 3 times as long and 4.5 times the memory (BenchmarkFormulas/Softmax).
type rows[F kernel.Float] struct {
	Name string
}

func applyRows(name string, x *G.Node) (*G.Node, error) {
	return applyTyped(rows[float32]{Name: name}, rows[float64]{Name: name}, x)
}

func (o rows[F]) spec() spec { return spec{name: o.Name, args: named("x"), inPlace: first} }

func (o rows[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	if in[0].Dims() == 0 {
		return nil, &ShapeError{o.Name, "x", in[0], "(…, S)"}
	}
	return in[0].Clone(), nil
}

func (o rows[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	y, x, cols := dense.Floats[F](out), dense.Floats[F](in[0]), last(in[0].Shape())
	if o.Name == "Softmax" {
		kernel.Softmax(y, x, cols)
	} else {
		kernel.LogSoftmax(y, x, cols)
	}
	return nil
}

func (o rows[F]) backward(in G.Nodes, y, dy *G.Node) (G.Nodes, error) {
	return only(apply(softmaxBackward[F]{Log: o.Name == "LogSoftmax"}, y, dy))
}

// y = softmax(x):  dx = y⊙(dy − Σ dy⊙y).  y = log softmax(x):  dx = dy − exp(y)·Σ dy.
type softmaxBackward[F kernel.Float] struct {
	sameShape
	isGradient
	Log bool
}

func (o softmaxBackward[F]) spec() spec {
	if o.Log {
		return spec{name: "LogSoftmaxBackward", args: named("y", "dy"), inPlace: second}
	}
	return spec{name: "SoftmaxBackward", args: named("y", "dy"), inPlace: second}
}

func (o softmaxBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	backward := kernel.SoftmaxBackward[F]
	if o.Log {
		backward = kernel.LogSoftmaxBackward[F]
	}
	backward(dense.Floats[F](out), dense.Floats[F](in[0]), dense.Floats[F](in[1]), last(in[0].Shape()))
	return nil
}
