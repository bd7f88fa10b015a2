package graph

import (
	"attention/graph/mask"
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// MaskedMax returns the largest of every column over the tokens of x (…, T, E) that a mask
// shows, as (…, E): x.masked_fill(~m, −inf).amax(-2) in torch. The mask is as in
// MaskedMean. A sequence without a shown token gives 0 and passes no gradient, and a hidden
// NaN reaches nothing. The gradient is shared evenly among the largest.
func MaskedMax(x *G.Node, m mask.Mask) (*G.Node, error) {
	p, in, err := pool("MaskedMax", x, m)
	if err != nil {
		return nil, err
	}
	return applyTyped(maskedMax[float32]{p}, maskedMax[float64]{p}, in...)
}

type maskedMax[F kernel.Float] struct{ pooling }

func (o maskedMax[F]) spec() (string, []arg) { return "MaskedMax", append(named("x"), o.args...) }

func (o maskedMax[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	e, rows := last(in[0].Shape()), in[0].Shape()[in[0].Dims()-2]
	x, y := dense.Floats[F](in[0]), dense.Floats[F](out)
	return o.each(in[0].Shape(), in[1:], func(b int, shown []int) {
		top := y[b*e:][:e]
		clear(top)
		for i, t := range shown {
			for j, v := range x[(b*rows+t)*e:][:e] {
				if i == 0 || v > top[j] || v != v {
					top[j] = v
				}
			}
		}
	})
}

// dx[t] = dy/n for the n tokens that are shown and equal to y, 0 elsewhere.
func (o maskedMax[F]) backward(in G.Nodes, y, dy *G.Node) (G.Nodes, error) {
	return only(apply(maskedMaxBackward[F]{pooling: o.pooling}, append(G.Nodes{in[0], y, dy}, in[1:]...)...))
}

type maskedMaxBackward[F kernel.Float] struct {
	isGradient
	pooling
}

func (o maskedMaxBackward[F]) spec() (string, []arg) {
	return "MaskedMaxBackward", append(named("x", "y", "dy"), o.args...)
}

func (maskedMaxBackward[F]) shape(in []tensor.Shape) (tensor.Shape, error) { return in[0].Clone(), nil }

func (o maskedMaxBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	e, rows := last(in[0].Shape()), in[0].Shape()[in[0].Dims()-2]
	x, y, dy, dx := dense.Floats[F](in[0]), dense.Floats[F](in[1]), dense.Floats[F](in[2]), dense.Floats[F](out)
	return o.each(in[0].Shape(), in[3:], func(b int, shown []int) {
		clear(dx[b*rows*e:][:rows*e])
		for j, top := range y[b*e:][:e] {
			n := F(0)
			for _, t := range shown {
				if x[(b*rows+t)*e+j] == top {
					n++
				}
			}
			for _, t := range shown {
				if i := (b*rows+t)*e + j; x[i] == top {
					dx[i] = dy[b*e+j] / n
				}
			}
		}
	})
}
