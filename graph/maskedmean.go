package graph

import (
	"fmt"
	"slices"

	"attention/graph/mask"
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// MaskedMean returns the mean over the tokens of x (…, T, E) that a mask shows, as (…, E):
// (x*m).sum(-2)/m.sum(-2) in torch, with m (…, T, 1) of 0 and 1. The tokens are the keys of
// one query in one head, so that the mask which hides padding from an attention serves
// here too: mask.KeyLengths, or mask.Keep that broadcasts to (…, 1, 1, T). A nil mask shows
// all. A sequence without a shown token gives 0 and passes no gradient, and a hidden NaN
// reaches nothing.
func MaskedMean(x *G.Node, m mask.Mask) (*G.Node, error) {
	p, in, err := pool("MaskedMean", x, m)
	if err != nil {
		return nil, err
	}
	return applyTyped(maskedMean[float32]{p}, maskedMean[float64]{p}, in...)
}

// pool checks the arguments of MaskedMean or MaskedMax and returns the inputs of its op.
func pool(name string, x *G.Node, m mask.Mask) (pooling, G.Nodes, error) {
	if err := checkArgs(name, named("x"), G.Nodes{x}); err != nil {
		return pooling{}, nil, err
	}
	if x.Dims() < 2 {
		return pooling{}, nil, &ShapeError{name, "x", x.Shape(), "(…, T, E)"}
	}
	r, err := resolveMask(name, m, tokensOf(x.Shape()))
	return pooling{Name: name, Mask: r.mask, args: r.args}, append(G.Nodes{x}, r.nodes...), err
}

// tokensOf returns the axes of the scores of one query, which sees the tokens of x (…, T, E).
func tokensOf(x tensor.Shape) mask.Scores {
	n := len(x)
	return mask.Scores{Batch: slices.Clone(x[:n-2]), Heads: true, H: 1, T: 1, S: x[n-2]}
}

// pooling is what MaskedMean, MaskedMax and their gradients have in common.
type pooling struct {
	Name string
	Mask mask.Mask // resolved
	args []arg     // of the mask
}

// shape drops the tokens.
func (pooling) shape(in []tensor.Shape) (tensor.Shape, error) {
	n := in[0].Dims()
	return append(in[0][:n-2].Clone(), in[0][n-1]), nil
}

// each calls f for every sequence with its number and the tokens that are shown.
func (o pooling) each(x tensor.Shape, in []*tensor.Dense, f func(b int, shown []int)) error {
	axes := tokensOf(x)
	keys, err := mask.Bind(o.Mask, in, axes)
	if err != nil {
		return fmt.Errorf("graph: %s: %w", o.Name, err)
	}
	kernel.Parallel(axes.B(), 1+(1<<14)/(axes.S*last(x)), func(first, end int) {
		fill, shown := make([]bool, axes.S), make([]int, 0, axes.S)
		for b := first; b < end; b++ {
			lo, hi, all := keys.Span(b, 0)
			lo, hi = max(lo, 0), min(hi, axes.S)
			if lo >= hi {
				lo, hi = 0, 0
			}
			keys.Fill(b, 0, 0, lo, fill[lo:hi])
			shown = shown[:0]
			for t := lo; t < hi; t++ {
				if all || fill[t] {
					shown = append(shown, t)
				}
			}
			f(b, shown)
		}
	})
	return nil
}

type maskedMean[F kernel.Float] struct{ pooling }

func (o maskedMean[F]) spec() (string, []arg) { return "MaskedMean", append(named("x"), o.args...) }

func (o maskedMean[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	e, rows := last(in[0].Shape()), in[0].Shape()[in[0].Dims()-2]
	x, y := dense.Floats[F](in[0]), dense.Floats[F](out)
	return o.each(in[0].Shape(), in[1:], func(b int, shown []int) {
		sums := make([]float64, e) // in float64, so that the mean of many tokens keeps float32's digits
		for _, t := range shown {
			for j, v := range x[(b*rows+t)*e:][:e] {
				sums[j] += float64(v)
			}
		}
		mean := y[b*e:][:e]
		for j, sum := range sums {
			mean[j] = F(sum / float64(max(len(shown), 1)))
		}
	})
}

// y = Σ x[t]/n over the n tokens that are shown:  dx[t] = dy/n there, 0 elsewhere.
func (o maskedMean[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	back := maskedMeanBackward[F]{outShape: outShape{in[0].Shape()}, pooling: o.pooling}
	return only(apply(back, append(G.Nodes{dy}, in[1:]...)...))
}

type maskedMeanBackward[F kernel.Float] struct {
	isGradient
	outShape // of x
	pooling
}

func (o maskedMeanBackward[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	return o.outShape.shape(in)
}

func (o maskedMeanBackward[F]) spec() (string, []arg) {
	return "MaskedMeanBackward", append(named("dy"), o.args...)
}

func (o maskedMeanBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	e, rows := last(o.Out), o.Out[o.Out.Dims()-2]
	dy, dx := dense.Floats[F](in[0]), dense.Floats[F](out)
	return o.each(o.Out, in[1:], func(b int, shown []int) {
		clear(dx[b*rows*e:][:rows*e])
		for _, t := range shown {
			for j, v := range dy[b*e:][:e] {
				dx[(b*rows+t)*e+j] = v / F(len(shown))
			}
		}
	})
}
