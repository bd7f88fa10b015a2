package graph

import (
	"math"

	"attention/graph/mask"
	"attention/internal/dense"
	"attention/internal/kernel"
	"attention/internal/parallel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// MaskFill hides keys before the softmax: it returns scores (…, T, S) with −∞ where m
// hides a key (torch.Tensor.masked_fill). In scores of four axes or more the third from
// the end is H.
func MaskFill(scores *G.Node, m mask.Mask) (*G.Node, error) {
	if err := checkArgs("MaskFill", []arg{{name: "scores"}}, G.Nodes{scores}); err != nil {
		return nil, err
	}
	n := scores.Dims()
	if n < 2 {
		return nil, &ShapeError{"MaskFill", "scores", scores.Shape(), "(…, T, S)"}
	}
	r, err := resolveMask("MaskFill", m, mask.ScoresOf(scores.Shape(), n > 3))
	if err != nil {
		return nil, err
	}
	return r.fill(maskFilling{Name: "MaskFill", Heads: n > 3, Hidden: math.Inf(-1)}, scores)
}

// Tril returns the lower triangle of x (…, T, T), and 0 above it (torch.tril).
func Tril(x *G.Node) (*G.Node, error) {
	return resolvedMask{mask: mask.Causal{}}.fill(maskFilling{Name: "Tril"}, x)
}

// fill puts f.Hidden where the mask hides a key.
func (r resolvedMask) fill(f maskFilling, x *G.Node) (*G.Node, error) {
	f.Mask, f.args = r.mask, r.args
	f32, f64 := maskFill[float32]{maskFilling: f}, maskFill[float64]{maskFilling: f}
	return applyTyped(f32, f64, append(G.Nodes{x}, r.nodes...)...)
}

// maskFilling is the settings of a fill: the mask, and the number for hidden keys.
type maskFilling struct {
	Name   string
	Mask   mask.Mask // resolved
	Heads  bool      // whether the third axis from the end is H
	Extra  int       // the last keys, which all queries see
	Hidden float64   // the number put where the mask hides a key
	args   []arg     // of the mask
}

type maskFill[F kernel.Float] struct {
	maskFilling
}

func (o maskFill[F]) spec() spec {
	x := named("scores")
	if o.Hidden == 0 {
		x = named("x")
	}
	return spec{name: o.Name, args: append(x, o.args...),
		inPlace: first, fillsInfinity: math.IsInf(o.Hidden, 0)}
}

func (o maskFill[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	x := in[0]
	if n := x.Dims(); o.Name == "Tril" && (n < 2 || x[n-2] != x[n-1]) {
		return nil, &ShapeError{"Tril", "x", x, "(…, T, T)"}
	}
	return x.Clone(), nil
}

func (o maskFill[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	axes := mask.ScoresOf(in[0].Shape(), o.Heads)
	n := axes.S
	axes.S -= o.Extra
	keys, err := bindMask(o.Name, o.Mask, in[1:], axes, o.Extra)
	if err != nil {
		return err
	}
	x, y := dense.Floats[F](in[0]), dense.Floats[F](out)
	hidden := F(o.Hidden)
	parallel.For(len(x)/n, 1+(1<<14)/n, func(first, end int) {
		var shown []bool
		for row := first; row < end; row++ {
			b, h, t := row/axes.T/axes.H, row/axes.T%axes.H, row%axes.T
			from, to := x[row*n:][:n], y[row*n:][:n]
			lo, hi, all := keys.Span(b, t)
			lo, hi = max(lo, 0), min(hi, n)
			if lo >= hi {
				lo, hi = 0, 0
			}
			copy(to[lo:hi], from[lo:hi])
			fillWith(to[:lo], hidden)
			fillWith(to[hi:], hidden)
			if all {
				continue
			}
			shown = append(shown[:0], make([]bool, hi-lo)...)
			keys.Fill(b, h, t, lo, shown)
			for i, s := range shown {
				if !s {
					to[lo+i] = hidden
				}
			}
		}
	})
	return nil
}

func fillWith[F kernel.Float](x []F, v F) {
	for i := range x {
		x[i] = v
	}
}

// y = x where a key is shown:  dx = dy there, 0 elsewhere.
func (o maskFill[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	if o.Hidden != 0 {
		o.Name, o.Hidden = "MaskZero", 0
	}
	return only(apply(o, append(G.Nodes{dy}, in[1:]...)...))
}
