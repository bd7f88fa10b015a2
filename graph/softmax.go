package graph

import (
	"fmt"
	"math"

	"attention/graph/mask"
	"attention/internal/dense"
	"attention/internal/expr"
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

// rows is the op of a function of every row: Softmax or LogSoftmax.
type rows[F kernel.Float] struct {
	intoFirst
	Name string
}

func applyRows(name string, x *G.Node) (*G.Node, error) {
	return applyTyped(rows[float32]{Name: name}, rows[float64]{Name: name}, x)
}

func (o rows[F]) spec() (string, []arg) { return o.Name, named("x") }

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
	intoSecond
	isGradient
	Log bool
}

func (o softmaxBackward[F]) spec() (string, []arg) {
	if o.Log {
		return "LogSoftmaxBackward", named("y", "dy")
	}
	return "SoftmaxBackward", named("y", "dy")
}

func (o softmaxBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	backward := kernel.SoftmaxBackward[F]
	if o.Log {
		backward = kernel.LogSoftmaxBackward[F]
	}
	backward(dense.Floats[F](out), dense.Floats[F](in[0]), dense.Floats[F](in[1]), last(in[0].Shape()))
	return nil
}

// softmaxWithSinks computes the softmax of the rows of scores (…, T, S) and one more
// score, the head's sink, whose weight is left out:
//
//	y[s] = exp(x[s]) / (exp(sink) + Σ exp(x))
//
// so that a head may attend to nothing (attention sinks: Xiao et al. 2023; learned as
// in gpt-oss). A row of −∞ gives 0 whatever the sink is; any other row beside a sink of
// NaN or ∞ gives NaN.
type softmaxWithSinks[F kernel.Float] struct {
	intoFirst
	Heads bool // whether the third axis of the scores from the end is H
}

func (softmaxWithSinks[F]) spec() (string, []arg) { return "SoftmaxWithSinks", named("x", "sinks") }

func (o softmaxWithSinks[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	return in[0].Clone(), checkSinks("SoftmaxWithSinks", in[1], mask.ScoresOf(in[0], o.Heads))
}

func checkSinks(op string, sinks tensor.Shape, axes mask.Scores) error {
	if len(sinks) != 1 || sinks[0] != axes.H {
		return &ShapeError{op, "sinks", sinks, fmt.Sprintf("(H=%d)", axes.H)}
	}
	return nil
}

func (o softmaxWithSinks[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	x, sinks, y := dense.Floats[F](in[0]), dense.Floats[F](in[1]), dense.Floats[F](out)
	axes := mask.ScoresOf(in[0].Shape(), o.Heads)
	for row := range len(x) / axes.S {
		sink := float64(sinks[row/axes.T%axes.H])
		from, to := x[row*axes.S:][:axes.S], y[row*axes.S:][:axes.S]
		top := math.Inf(-1)
		for _, v := range from {
			top = math.Max(top, float64(v))
		}
		if math.IsInf(top, -1) {
			clear(to)
			continue
		}
		top = math.Max(top, sink)
		sum := math.Exp(sink - top)
		for _, v := range from {
			sum += math.Exp(float64(v) - top)
		}
		for i, v := range from {
			to[i] = F(math.Exp(float64(v)-top) / sum)
		}
	}
	return nil
}

// dx = y⊙(dy − Σ y⊙dy), dsink = −Σ p·Σ y⊙dy with the sink's weight p = 1 − Σ y.
func (o softmaxWithSinks[F]) backward(in G.Nodes, y, dy *G.Node) (G.Nodes, error) {
	var f expr.Formula
	dx := f.Of(apply(softmaxBackward[F]{}, y, dy))
	dsinks := f.Of(apply(sinksBackward[F]{Heads: o.Heads}, in[0], in[1], y, dy))
	return G.Nodes{dx, dsinks}, f.Err()
}

type sinksBackward[F kernel.Float] struct {
	isGradient
	Heads bool
}

func (sinksBackward[F]) spec() (string, []arg) {
	return "SinksBackward", named("x", "sinks", "y", "dy")
}

func (sinksBackward[F]) shape(in []tensor.Shape) (tensor.Shape, error) { return in[1].Clone(), nil }

func (o sinksBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	x, sinks, y, dy := dense.Floats[F](in[0]), dense.Floats[F](in[1]), dense.Floats[F](in[2]), dense.Floats[F](in[3])
	d := dense.Floats[F](out)
	axes := mask.ScoresOf(in[0].Shape(), o.Heads)
	clear(d)
	for row := range len(x) / axes.S {
		h, at := row/axes.T%axes.H, row*axes.S
		best, sum, dot := 0, 0., 0.
		for s := range axes.S {
			v := float64(y[at+s])
			sum += v
			dot += v * float64(dy[at+s])
			if y[at+s] > y[at+best] {
				best = s
			}
		}
		if dot == 0 {
			continue
		}
		p := 1 - sum
		if sum > 0.5 { // then the difference is inexact, and the ratio to another weight is not
			p = float64(y[at+best]) * math.Exp(float64(sinks[h])-float64(x[at+best]))
		}
		d[h] -= F(p * dot)
	}
	return nil
}
