package graph

import (
	"math"
	"slices"

	"attention/graph/mask"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// MaskedMean returns the mean over the tokens of x (…, T, E) that a mask shows, as (…, E): (x*m).sum(-2)/m.sum(-2) in
// torch, with m (…, T, 1) of 0 and 1. The mask treats the tokens as the keys of one query in one head, so that the mask
// that hides padding from an attention works here too: mask.KeyLengths, or a mask.Keep that broadcasts to (…, 1, 1, T).
// A nil mask shows all. A sequence without a visible token gives 0 and passes no gradient, and a hidden NaN has no
// effect.
func MaskedMean(x *G.Node, m mask.Mask) (*G.Node, error) {
	var f expr.Formula
	x, shown := f.Of2(tokens("MaskedMean", x, m))              // (…, T, E), (…, T, 1)
	sum := f.Of(Sum(f.Of(whereNotZero(shown, x)), overTokens)) // (…, E)
	n := f.Of(Sum(shown, overTokens))                          // (…, 1)
	return f.Result(f.Of(Div(sum, f.Of(Clamp(n, 1, math.Inf(1))))))
}

// MaskedMax returns the largest element of every column over the tokens of x (…, T, E) that a mask shows, as (…, E):
// x.masked_fill(~m, −inf).amax(-2) in torch. The mask is as in MaskedMean. A sequence without a visible token gives 0
// and passes no gradient, and a hidden NaN has no effect. Equal largest elements share the gradient evenly.
func MaskedMax(x *G.Node, m mask.Mask) (*G.Node, error) {
	var f expr.Formula
	x, shown := f.Of2(tokens("MaskedMax", x, m)) // (…, T, E), (…, T, 1)
	top := f.Of(Max(f.Of(Where(shown, x, constant(x, math.Inf(-1)))), overTokens))
	return f.Result(f.Of(whereNotZero(f.Of(Max(shown, overTokens)), top)))
}

// tokens returns x and the numbers (…, T, 1) that are 1 for visible and 0 for hidden tokens.
func tokens(op string, x *G.Node, m mask.Mask) (_, shown *G.Node, err error) {
	in, err := checked(op, named("x"), x)
	if err != nil {
		return nil, nil, err
	}
	x = in[0]
	s := x.Shape()
	n := s.Dims()
	if n < 2 {
		return nil, nil, &ShapeError{op, "x", s, "(…, T, E)"}
	}
	if err := checkNotEmpty(op, "x", s); err != nil {
		return nil, nil, err
	}
	batch, t := s[:n-2], s[n-2]
	r, err := resolveMask(op, m, mask.Scores{Batch: slices.Clone(batch), Heads: true, H: 1, T: 1, S: t})
	if err != nil {
		return nil, nil, err
	}
	var f expr.Formula
	ones := filled(x, 1, append(batch.Clone(), 1, 1, t)...)
	shown = f.Of(r.fill(maskFilling{Name: op, Heads: true}, ones)) // (…, 1, 1, T)
	return f.Result2(x, f.Of(G.Reshape(shown, append(batch.Clone(), t, 1))))
}

// overTokens reduces the tokens of x (…, T, E).
var overTokens = ReduceConfig{Dim: []int{-2}}
