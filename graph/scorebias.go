package graph

import (
	"attention/graph/mask"
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// addScoreBias adds a bias that broadcasts to the scores.
func addScoreBias(b biased, scores, bias *G.Node) (*G.Node, error) {
	return applyTyped(addBias[float32]{biased: b}, addBias[float64]{biased: b}, scores, bias)
}

// biased are the scores (…, T, S) that get a bias: those of all keys but the last Extra.
type biased struct {
	Heads bool // whether the third axis of scores from the end is H
	Extra int
}

func (o biased) axes(scores tensor.Shape) mask.Scores {
	a := mask.ScoresOf(scores, o.Heads)
	a.S -= o.Extra
	return a
}

// each calls f for every row of scores, with where the row and its bias begin.
func (o biased) each(scores, bias tensor.Shape, f func(row, at, keys, step int)) error {
	axes := o.axes(scores)
	l, err := broadcast("AddBias", "bias", bias, axes)
	if err != nil {
		return err
	}
	for row := range axes.B() * axes.H * axes.T {
		b, h, t := row/axes.T/axes.H, row/axes.T%axes.H, row%axes.T
		f(row*last(scores), b*l.Batch+h*l.Head+t*l.Query, axes.S, l.Key)
	}
	return nil
}

type addBias[F kernel.Float] struct {
	intoFirst
	biased
}

func (addBias[F]) spec() (string, []arg) { return "AddBias", named("scores", "bias") }

func (o addBias[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	_, err := broadcast("AddBias", "bias", in[1], o.axes(in[0]))
	return in[0].Clone(), err
}

func (o addBias[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	bias, y := dense.Floats[F](in[1]), dense.Floats[F](out)
	copy(y, dense.Floats[F](in[0]))
	return o.each(in[0].Shape(), in[1].Shape(), func(row, at, keys, step int) {
		for s := range keys {
			y[row+s] += bias[at+s*step]
		}
	})
}

// y = x + bias:  dx = dy, dbias = Σ dy over the axes along which bias is repeated.
func (o addBias[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	dbias, err := apply(sumToBias[F]{outShape: outShape{in[1].Shape()}, biased: o.biased}, dy)
	return G.Nodes{dy, dbias}, err
}

// sumToBias sums the gradient of scores to the shape of a bias.
type sumToBias[F kernel.Float] struct {
	isGradient
	outShape
	biased
}

func (sumToBias[F]) spec() (string, []arg) { return "AddBiasBackward", named("dscores") }

func (o sumToBias[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	dy, d := dense.Floats[F](in[0]), dense.Floats[F](out)
	clear(d)
	return o.each(in[0].Shape(), o.Out, func(row, at, keys, step int) {
		for s := range keys {
			d[at+s*step] += dy[row+s]
		}
	})
}
