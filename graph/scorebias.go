package graph

import (
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// addBias adds a bias that broadcasts to scores (…, T, S) to all keys but the last
// Extra.
type addBias struct {
	Heads bool // whether the third axis of scores from the end is the heads'
	Extra int
}

func (addBias) spec() (string, []arg) {
	return "AddBias", []arg{{name: "scores"}, {name: "bias"}}
}

func (addBias) inPlace() int { return 0 }

func (o addBias) axes(scores tensor.Shape) maskAxes {
	a := scoreAxes(scores, o.Heads)
	a.S -= o.Extra
	return a
}

func (o addBias) shape(in []tensor.Shape) (tensor.Shape, error) {
	_, err := broadcastLayout("AddBias", "bias", in[1], o.axes(in[0]))
	return in[0].Clone(), err
}

// each calls f for every row of scores: where it begins and where its bias does.
func (o addBias) each(scores, bias tensor.Shape, f func(row, at, keys, step int)) error {
	axes := o.axes(scores)
	l, err := broadcastLayout("AddBias", "bias", bias, axes)
	if err != nil {
		return err
	}
	for row := range axes.b() * axes.H * axes.T {
		b, h, t := row/axes.T/axes.H, row/axes.T%axes.H, row%axes.T
		f(row*last(scores), b*l.Batch+h*l.Head+t*l.Query, axes.S, l.Key)
	}
	return nil
}

func (o addBias) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, addBiasForward[float32], addBiasForward[float64])(o, out, in)
}

func addBiasForward[F kernel.Float](o addBias, out *tensor.Dense, in []*tensor.Dense) error {
	bias, y := floats[F](in[1]), floats[F](out)
	copy(y, floats[F](in[0]))
	return o.each(in[0].Shape(), in[1].Shape(), func(row, at, keys, step int) {
		for s := range keys {
			y[row+s] += bias[at+s*step]
		}
	})
}

// y = x + bias:  dx = dy, dbias = Σ dy over the axes along which bias is repeated.
func (o addBias) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	dbias, err := apply(sumToBias{o, in[1].Shape()}, dy)
	return G.Nodes{dy, dbias}, err
}

// sumToBias sums the gradient of scores to the shape of a bias.
type sumToBias struct {
	addBias
	Bias tensor.Shape
}

func (sumToBias) spec() (string, []arg) { return "AddBiasBackward", []arg{{name: "dscores"}} }

func (o sumToBias) shape([]tensor.Shape) (tensor.Shape, error) { return o.Bias.Clone(), nil }

func (sumToBias) inPlace() int { return -1 }

func (o sumToBias) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, sumToBiasForward[float32], sumToBiasForward[float64])(o, out, in)
}

func sumToBiasForward[F kernel.Float](o sumToBias, out *tensor.Dense, in []*tensor.Dense) error {
	dy, d := floats[F](in[0]), floats[F](out)
	clear(d)
	return o.each(in[0].Shape(), o.Bias, func(row, at, keys, step int) {
		for s := range keys {
			d[at+s*step] += dy[row+s]
		}
	})
}

func (o sumToBias) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return noSecond(o) }
