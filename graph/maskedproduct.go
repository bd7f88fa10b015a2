package graph

import (
	"attention/graph/mask"
	"attention/internal/dense"
	"attention/internal/expr"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A maskedProduct is a batchProduct over only those pairs of a query and a key that a mask shows. From matrices w (…,
// T, S) of pairs, which are 0 (or, in a row of NaN, NaN) where a key is hidden, x (…, S, N) and y (…, T, N), it
// computes
//
//	y·xᵀ  (…, T, S), 0 where a key is hidden
//	w·x   (…, T, N), a sum over the keys that a query sees
//	wᵀ·y  (…, S, N), a sum over the queries that see a key
//
// and each product is the gradient of the others. It is an op because 0 times NaN or ∞ is NaN: a weight of 0 in MatMul
// does not make a hidden key harmless.
type maskedProduct[F kernel.Float] struct {
	batchProduct[F]
	maskFilling
}

// product returns x·yᵀ or x·y, over the pairs that the mask shows.
func (a *attentionArgs) product(x, y *G.Node, transB bool) (*G.Node, error) {
	f32, f64 := batchProduct[float32]{TransB: transB}, batchProduct[float64]{TransB: transB}
	f32.Precision, f64.Precision = a.Precision, a.Precision
	if a.mask.mask == (mask.All{}) {
		return applyTyped(f32, f64, x, y)
	}
	f := maskFilling{Name: a.op, Mask: a.mask.mask, Heads: a.scores.Heads, Extra: a.ExtraKeys, args: a.mask.args}
	in := append(G.Nodes{x, y}, a.mask.nodes...)
	return applyTyped(maskedProduct[float32]{f32, f}, maskedProduct[float64]{f64, f}, in...)
}

func (o maskedProduct[F]) spec() spec {
	s := o.batchProduct.spec()
	s.args = append(s.args, o.args...)
	return s
}

func (o maskedProduct[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	return o.batchProduct.shape(in[:2])
}

func (o maskedProduct[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	if err := o.batchProduct.forward(out, in[:2]); err != nil {
		return err
	}
	if o.TransB {
		return o.clearHidden(out, out, in[2:])
	}
	if allFinite(dense.Floats[F](out)) {
		return nil // finite weights, and finite rows
	}
	return o.separately(out, in[0], in[1], in[2:])
}

// clearHidden writes w to out, with 0 where a key is hidden.
func (o maskedProduct[F]) clearHidden(out, w *tensor.Dense, mask []*tensor.Dense) error {
	return maskFill[F]{maskFilling: o.maskFilling}.forward(out, append([]*tensor.Dense{w}, mask...))
}

// separately computes w·x or wᵀ·y in two steps: the first replaces non-finite numbers of x or y by 0, the second adds
// them for queries that see them.
func (o maskedProduct[F]) separately(out, w, rows *tensor.Dense, mask []*tensor.Dense) error {
	clean, rest := w.Clone().(*tensor.Dense), rows.Clone().(*tensor.Dense)
	if err := o.clearHidden(clean, w, mask); err != nil {
		return err
	}
	width := last(rows.Shape())
	bad := map[int]bool{}
	for i, x := range dense.Floats[F](rest) {
		if !isFinite(x) {
			bad[i/width] = true
			dense.Floats[F](rest)[i] = 0
		}
	}
	if err := o.batchProduct.forward(out, []*tensor.Dense{clean, rest}); err != nil {
		return err
	}
	seen, err := o.shown(w, mask)
	if err != nil {
		return err
	}
	weights, from, to := dense.Floats[F](w), dense.Floats[F](rows), dense.Floats[F](out)
	S, T := last(w.Shape()), w.Shape()[w.Dims()-2]
	for pair, sees := range seen {
		in, sum := pair/(S*T)*S+pair%S, pair/S // indices of the key and the query
		if o.TransA {
			in, sum = sum, in
		}
		if !sees || !bad[in] {
			continue
		}
		y := to[sum*width:][:width]
		for i, v := range from[in*width:][:width] {
			if !isFinite(v) {
				y[i] += weights[pair] * v
			}
		}
	}
	return nil
}

// shown reports for every pair of w whether the query sees the key.
func (o maskedProduct[F]) shown(w *tensor.Dense, mask []*tensor.Dense) ([]bool, error) {
	ones := w.Clone().(*tensor.Dense)
	fillWith(dense.Floats[F](ones), 1)
	err := o.clearHidden(ones, ones, mask)
	seen := make([]bool, len(dense.Floats[F](ones)))
	for i, v := range dense.Floats[F](ones) {
		seen[i] = v == 1
	}
	return seen, err
}

func allFinite[F kernel.Float](x []F) bool {
	for _, v := range x {
		if !isFinite(v) {
			return false
		}
	}
	return true
}

func isFinite[F kernel.Float](x F) bool { return x-x == 0 }

// With dw the gradient of y·xᵀ, its gradients are dw·x and dwᵀ·y; the gradients of w·x and of wᵀ·y are the two other
// products.
func (o maskedProduct[F]) backward(in G.Nodes, _, dc *G.Node) (G.Nodes, error) {
	a, b := in[0], in[1]
	var f expr.Formula
	of := func(p batchProduct[F], x, y *G.Node) *G.Node {
		p.operands = o.operands
		return f.Of(apply(maskedProduct[F]{p, o.maskFilling}, append(G.Nodes{x, y}, in[2:]...)...))
	}
	pairs, overKeys, overQueries := batchProduct[F]{TransB: true}, batchProduct[F]{}, batchProduct[F]{TransA: true}
	d := make(G.Nodes, len(in))
	switch {
	case o.TransB:
		d[0], d[1] = of(overKeys, dc, b), of(overQueries, dc, a)
	case o.TransA:
		d[0], d[1] = of(pairs, b, dc), of(overKeys, a, dc)
	default:
		d[0], d[1] = of(pairs, dc, b), of(overQueries, a, dc)
	}
	return d, f.Err()
}
