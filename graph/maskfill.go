package graph

import (
	"fmt"
	"math"
	"slices"

	"attention/graph/mask"
	"attention/internal/dense"
	"attention/internal/kernel"
	"attention/internal/parallel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// resolvedMask is a mask that fits its scores, and the inputs that it reads.
type resolvedMask struct {
	mask  mask.Mask // with numbers in place of nodes
	args  []arg
	nodes G.Nodes
}

// resolveMask checks a mask and its nodes for the scores of an op.
func resolveMask(op string, m mask.Mask, s mask.Scores) (r resolvedMask, err error) {
	var inputs []mask.Input
	r.mask, inputs, err = mask.Resolve(m, s)
	if err != nil {
		return r, fmt.Errorf("graph: %s: mask: %w", op, err)
	}
	for _, in := range inputs {
		a := arg{name: in.Name, integer: in.Integer, fixed: true, anyNumber: !in.Integer}
		if err := checkArgs(op, []arg{a}, G.Nodes{in.Node}); err != nil {
			return r, err
		}
		if err := checkMaskShape(op, in, s); err != nil {
			return r, err
		}
		r.args, r.nodes = append(r.args, a), append(r.nodes, in.Node)
	}
	return r, nil
}

func checkMaskShape(op string, in mask.Input, s mask.Scores) error {
	if in.Broadcasts {
		if _, want := s.BroadcastKeep(in.Node.Shape()); want != "" {
			return &ShapeError{op, in.Name, in.Node.Shape(), want}
		}
		return nil
	}
	if !slices.Equal(in.Node.Shape(), in.Shape) {
		return &ShapeError{op, in.Name, in.Node.Shape(), fmt.Sprintf("%s = %v", in.Letters, in.Shape)}
	}
	return nil
}

// broadcast returns the layout of an argument that broadcasts to scores.
func broadcast(op, name string, shape tensor.Shape, s mask.Scores) (kernel.BiasLayout, error) {
	at, want := s.Broadcast(shape)
	if want != "" {
		return at, &ShapeError{op, name, shape, want}
	}
	return at, nil
}

// bindMask returns the keys that a resolved mask shows in one run: those of the scores,
// and extra ones after them, which all queries see.
func bindMask(op string, m mask.Mask, in []*tensor.Dense, s mask.Scores, extra int) (mask.KeySet, error) {
	keys, err := mask.Bind(m, in, s)
	if err != nil {
		return keys, fmt.Errorf("graph: %s: %w", op, err)
	}
	if extra > 0 {
		keys = keys.Append(s.S, extra)
	}
	return keys, nil
}

// setVisibility lets a kernel skip the keys that are not in the set.
func setVisibility(a *kernel.Attention, keys mask.KeySet) {
	a.Visible = func(b, t int) (lo, hi int) {
		lo, hi, _ = keys.Span(b, t)
		return lo, hi
	}
	a.Alike = keys.Alike()
	if keys.AllRanges(a.B, a.T) {
		return
	}
	a.Shown = func(b, h, t, s0 int, shown []bool) bool {
		if _, _, all := keys.Span(b, t); all {
			return false
		}
		switch keys.Glance(b, t, s0, len(shown)) {
		case mask.SeesAll:
			return false
		case mask.SeesNone:
			clear(shown)
		default:
			keys.Fill(b, h, t, s0, shown)
			// A single batch may not know without checks that it sees all keys; the bits must be the same.
			return slices.Contains(shown, false)
		}
		return true
	}
}

// MaskFill hides keys before the softmax: it returns scores (…, T, S) with −∞ where m hides a key
// (torch.Tensor.masked_fill). If the scores have four axes or more, H is the third axis from the end.
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

// fill writes f.Hidden where the mask hides a key.
func (r resolvedMask) fill(f maskFilling, x *G.Node) (*G.Node, error) {
	f.Mask, f.args = r.mask, r.args
	f32, f64 := maskFill[float32]{maskFilling: f}, maskFill[float64]{maskFilling: f}
	return applyTyped(f32, f64, append(G.Nodes{x}, r.nodes...)...)
}

// maskFilling holds the settings of a fill: the mask, and the number for hidden keys.
type maskFilling struct {
	Name   string
	Mask   mask.Mask // resolved
	Heads  bool      // whether the third axis from the end is H
	Extra  int       // number of last keys, which all queries see
	Hidden float64   // replaces the scores of hidden keys
	args   []arg     // of the mask
}

// maskFill replaces the scores of hidden keys. It is an op because no other op evaluates a mask.
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
