package graph

import (
	"fmt"
	"math"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// MaskFill hides keys before the softmax: it puts −∞ into scores (…, T, S) where m
// hides a key (torch.Tensor.masked_fill). In scores of four axes or more the third
// from the end is the heads', H.
func MaskFill(scores *G.Node, m Mask) (*G.Node, error) {
	if err := checkArgs("MaskFill", []arg{{name: "scores"}}, G.Nodes{scores}); err != nil {
		return nil, err
	}
	n := scores.Dims()
	if n < 2 {
		return nil, &ShapeError{"MaskFill", "scores", scores.Shape(), "(…, T, S)"}
	}
	c := maskCompiler{op: "MaskFill", axes: scoreAxes(scores.Shape(), n > 3)}
	r, err := c.whole(m)
	if err != nil {
		return nil, err
	}
	return apply(maskFill{Name: "MaskFill", Rule: r, Heads: n > 3, Hidden: math.Inf(-1), args: c.args}, append(G.Nodes{scores}, c.nodes...)...)
}

// CausalFill hides the keys after each query: −∞ above the diagonal of scores
// (…, T, T), before the softmax.
func CausalFill(scores *G.Node) (*G.Node, error) {
	return apply(maskFill{Name: "CausalFill", Rule: triangle, Hidden: math.Inf(-1)}, scores)
}

// Tril keeps the lower triangle of x (…, T, T) and puts 0 above it (torch.tril).
func Tril(x *G.Node) (*G.Node, error) { return apply(maskFill{Name: "Tril", Rule: triangle}, x) }

var triangle = band{Left: unlimited, Align: Square}

// maskFill puts Hidden where the rule hides a key.
type maskFill struct {
	Name   string
	Rule   rule
	Heads  bool // whether the third axis from the end is the heads'
	Hidden float64
	args   []arg // that the rule reads
}

func (o maskFill) spec() (string, []arg) {
	x := arg{name: "scores"}
	if o.Hidden == 0 {
		x.name = "x"
	}
	return o.Name, append([]arg{x}, o.args...)
}

func (maskFill) inPlace() int { return 0 }

func (o maskFill) shape(in []tensor.Shape) (tensor.Shape, error) {
	x := in[0]
	if n := x.Dims(); n < 2 || o.Rule == triangle && x[n-2] != x[n-1] {
		_, args := o.spec()
		return nil, &ShapeError{o.Name, args[0].name, x, "(…, T, T)"}
	}
	return x.Clone(), nil
}

func (o maskFill) forward(out *tensor.Dense, in []*tensor.Dense) error {
	return byType(out, maskFillForward[float32], maskFillForward[float64])(o, out, in)
}

func maskFillForward[F kernel.Float](o maskFill, out *tensor.Dense, in []*tensor.Dense) error {
	axes := scoreAxes(in[0].Shape(), o.Heads)
	keys, err := o.Rule.bind(in[1:], place{B: axes.b(), H: axes.H, T: axes.T, S: axes.S})
	if err != nil {
		return fmt.Errorf("graph: %s: %w", o.Name, err)
	}
	x, y, n := floats[F](in[0]), floats[F](out), axes.S
	hidden := F(o.Hidden)
	kernel.Parallel(len(x)/n, 1+(1<<14)/n, func(first, end int) {
		var shown []bool
		for row := first; row < end; row++ {
			b, h, t := row/axes.T/axes.H, row/axes.T%axes.H, row%axes.T
			from, to := x[row*n:][:n], y[row*n:][:n]
			lo, hi, all := keys.span(b, t)
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
			keys.fill(b, h, t, lo, shown)
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
func (o maskFill) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	d := make(G.Nodes, len(in))
	o.Name, o.Hidden = "MaskZero", 0
	if o.Rule == triangle {
		o.Name = "Tril"
	}
	var err error
	d[0], err = apply(o, append(G.Nodes{dy}, in[1:]...)...)
	return d, err
}

// broadcastLayout is where the elements of a node lie that broadcasts to scores.
func broadcastLayout(op, name string, s tensor.Shape, axes maskAxes) (at kernel.BiasLayout, err error) {
	full := axes.shape()
	wrong := &ShapeError{op, name, s, fmt.Sprintf("one that broadcasts to %v", full)}
	if len(s) > len(full) {
		return at, wrong
	}
	missing, step := len(full)-len(s), 1
	whole, one := 0, 0 // axes of the batch that are there, and that are repeated
	for i := len(full) - 1; i >= 0; i-- {
		d := 1
		if i >= missing {
			d = s[i-missing]
		}
		if d != 1 && d != full[i] {
			return at, wrong
		}
		along := 0
		if d > 1 {
			along = step
		}
		switch fromEnd := len(full) - i; {
		case fromEnd == 1:
			at.Key = along
		case fromEnd == 2:
			at.Query = along
		case fromEnd == 3 && axes.Heads:
			at.Head = along
		case full[i] > 1 && d > 1:
			whole++
			if at.Batch == 0 {
				at.Batch = along
			}
		case full[i] > 1:
			one++
		}
		step *= d
	}
	if whole > 0 && one > 0 {
		wrong.Want += " and repeats all of its axes before the heads' or none"
		return at, wrong
	}
	return at, nil
}
