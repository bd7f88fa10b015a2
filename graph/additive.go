package graph

import (
	"fmt"
	"slices"

	"attention/graph/mask"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// AdditiveAttention returns Bahdanau's attention (Bahdanau, Cho and Bengio 2014, section
// 3.1), for queries and keys that are projected already:
//
//	score[t,s] = v·tanh(q[t] + k[s])
//	weights    = softmax(score)
//	out        = weights·value
//
// q is (…, T, A), k (…, S, A), v (1, A), value (…, S, E); out is (…, T, E),
// weights (…, T, S). Queries see only the keys that m shows; nil shows all. A query that sees no key has weights and
// output 0. A hidden value must be finite.
func AdditiveAttention(q, k, v, value *G.Node, m mask.Mask) (out, weights *G.Node, err error) {
	return FullPrecision.AdditiveAttention(q, k, v, value, m)
}

// AdditiveAttention is the function AdditiveAttention with a precision for the products by v and of weights with
// values.
func (p Precision) AdditiveAttention(q, k, v, value *G.Node, m mask.Mask) (out, weights *G.Node, err error) {
	if err := checkAdditive("AdditiveAttention", q, k, v, value); err != nil {
		return nil, nil, err
	}
	var f expr.Formula
	scores := f.Of(p.additiveScores(q, k, v)) // (…, T, S)
	if m != nil {
		scores = f.Of(MaskFill(scores, m))
	}
	weights = f.Of(Softmax(scores))
	out = f.Of(p.MatMul(weights, value))
	return f.Result2(out, weights)
}

// AdditiveScores returns the scores v·tanh(q[t] + k[s]) of AdditiveAttention, (…, T, S).
func AdditiveScores(q, k, v *G.Node) (*G.Node, error) {
	if err := checkAdditive("AdditiveScores", q, k, v, k); err != nil {
		return nil, err
	}
	return FullPrecision.additiveScores(q, k, v)
}

func (p Precision) additiveScores(q, k, v *G.Node) (*G.Node, error) {
	var f expr.Formula
	hidden := f.Of(Tanh(f.Of(PairwiseAdd(q, k)))) // (…, T, S, A)
	one := f.Of(p.Linear(hidden, v, nil))         // (…, T, S, 1)
	shape := append(q.Shape()[:q.Dims()-1], k.Shape()[k.Dims()-2])
	return f.Result(f.Of(G.Reshape(one, shape))) // (…, T, S)
}

// checkAdditive checks the arguments here, because the errors of the single steps would not know the arguments' names.
func checkAdditive(op string, q, k, v, value *G.Node) error {
	if err := checkArgs(op, named("q", "k", "v", "value"), G.Nodes{q, k, v, value}); err != nil {
		return err
	}
	if err := checkPairs(q.Shape(), k.Shape()); err != nil {
		return err
	}
	if a := last(q.Shape()); !slices.Equal(v.Shape(), tensor.Shape{1, a}) {
		return &ShapeError{op, "v", v.Shape(), fmt.Sprintf("(1, %d)", a)}
	}
	want := slices.Clone(k.Shape())
	want[len(want)-1] = -1
	if n := len(want); len(value.Shape()) != n || !slices.Equal(value.Shape()[:n-1], k.Shape()[:n-1]) {
		return &ShapeError{op, "value", value.Shape(), shapeWithAny(want, "E")}
	}
	return nil
}

// PairwiseAdd returns q[t] + k[s] for every pair (…, T, S, A) of q (…, T, A) and
// k (…, S, A).
func PairwiseAdd(q, k *G.Node) (*G.Node, error) {
	in, err := checked("PairwiseAdd", named("q", "k"), q, k)
	if err != nil {
		return nil, err
	}
	q, k = in[0], in[1]
	if err := checkPairs(q.Shape(), k.Shape()); err != nil {
		return nil, err
	}
	n := q.Dims()
	batch, t, s, a := q.Shape()[:n-2], q.Shape()[n-2], k.Shape()[n-2], q.Shape()[n-1]
	var f expr.Formula
	q = f.Of(G.Reshape(q, append(batch.Clone(), t, 1, a))) // (…, T, 1, A)
	k = f.Of(G.Reshape(k, append(batch.Clone(), 1, s, a))) // (…, 1, S, A)
	return f.Result(f.Of(Add(q, k)))
}

func checkPairs(q, k tensor.Shape) error {
	n := q.Dims()
	if n < 2 {
		return &ShapeError{"PairwiseAdd", "q", q, "(…, T, A)"}
	}
	want := q.Clone()
	if k.Dims() == n {
		want[n-2] = k[n-2]
	}
	if !slices.Equal(k, want) {
		want[n-2] = -1 // any length
		return &ShapeError{"PairwiseAdd", "k", k, shapeWithAny(want, "S")}
	}
	return nil
}
