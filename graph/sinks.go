package graph

import (
	"fmt"
	"math"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// softmaxWithSinks is the softmax of the rows of scores (…, T, S) and one more score,
// the head's sink, whose weight is left out:
//
//	y[s] = exp(x[s]) / (exp(sink) + Σ exp(x))
//
// so that a head may attend to nothing (attention sinks: Xiao et al. 2023; learned as
// in gpt-oss). A row of −∞ gives 0.
type softmaxWithSinks struct{ Heads bool }

func (softmaxWithSinks) spec() (string, []arg) {
	return "SoftmaxWithSinks", []arg{{name: "x"}, {name: "sinks"}}
}

func (softmaxWithSinks) inPlace() int { return 0 }

func (o softmaxWithSinks) shape(in []tensor.Shape) (tensor.Shape, error) {
	return in[0].Clone(), checkSinks("SoftmaxWithSinks", in[1], scoreAxes(in[0], o.Heads))
}

func checkSinks(op string, sinks tensor.Shape, axes maskAxes) error {
	if len(sinks) != 1 || sinks[0] != axes.H {
		return &ShapeError{op, "sinks", sinks, fmt.Sprintf("(H=%d)", axes.H)}
	}
	return nil
}

func (o softmaxWithSinks) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, softmaxWithSinksForward[float32], softmaxWithSinksForward[float64])(o, out, in)
}

func softmaxWithSinksForward[F kernel.Float](o softmaxWithSinks, out *tensor.Dense, in []*tensor.Dense) error {
	x, sinks, y := floats[F](in[0]), floats[F](in[1]), floats[F](out)
	axes := scoreAxes(in[0].Shape(), o.Heads)
	for row := range len(x) / axes.S {
		sink := float64(sinks[row/axes.T%axes.H])
		from, to := x[row*axes.S:][:axes.S], y[row*axes.S:][:axes.S]
		top := sink
		for _, v := range from {
			top = math.Max(top, float64(v))
		}
		if math.IsInf(top, -1) {
			clear(to)
			continue
		}
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
func (o softmaxWithSinks) backward(in G.Nodes, y, dy *G.Node) (G.Nodes, error) {
	dx, err := applyTyped(softmaxBackward[float32]{}, softmaxBackward[float64]{}, y, dy)
	if err != nil {
		return nil, err
	}
	dsinks, err := apply(sinksBackward{o}, in[0], in[1], y, dy)
	return G.Nodes{dx, dsinks}, err
}

type sinksBackward struct{ softmaxWithSinks }

func (sinksBackward) spec() (string, []arg) {
	return "SinksBackward", []arg{{name: "x"}, {name: "sinks"}, {name: "y"}, {name: "dy"}}
}

func (sinksBackward) inPlace() int { return -1 }

func (sinksBackward) shape(in []tensor.Shape) (tensor.Shape, error) { return in[1].Clone(), nil }

func (o sinksBackward) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, sinksBackwardForward[float32], sinksBackwardForward[float64])(o, out, in)
}

func sinksBackwardForward[F kernel.Float](o sinksBackward, out *tensor.Dense, in []*tensor.Dense) error {
	x, sinks, y, dy, d := floats[F](in[0]), floats[F](in[1]), floats[F](in[2]), floats[F](in[3]), floats[F](out)
	axes := scoreAxes(in[0].Shape(), o.Heads)
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

func (o sinksBackward) backward(G.Nodes, *G.Node, *G.Node) (G.Nodes, error) { return noSecond(o) }
