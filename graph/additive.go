package graph

import (
	"fmt"
	"slices"

	"attention/graph/mask"
	"attention/internal/dense"
	"attention/internal/expr"
	"attention/internal/kernel"

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
// weights (…, T, S).
func AdditiveAttention(q, k, v, value *G.Node) (out, weights *G.Node, err error) {
	return FullPrecision.additiveAttention("AdditiveAttention", q, k, v, value, nil)
}

// MaskedAdditiveAttention is AdditiveAttention of queries that see only the keys that m
// shows; nil shows all. A query that sees none has weights and output 0. A hidden value
// must be finite.
func MaskedAdditiveAttention(q, k, v, value *G.Node, m mask.Mask) (out, weights *G.Node, err error) {
	return FullPrecision.MaskedAdditiveAttention(q, k, v, value, m)
}

// MaskedAdditiveAttention is the function MaskedAdditiveAttention with the products by v and of weights and value in a
// precision.
func (p Precision) MaskedAdditiveAttention(q, k, v, value *G.Node, m mask.Mask) (out, weights *G.Node, err error) {
	return p.additiveAttention("MaskedAdditiveAttention", q, k, v, value, m)
}

func (p Precision) additiveAttention(op string, q, k, v, value *G.Node, m mask.Mask) (
	out, weights *G.Node, err error,
) {
	if err := checkAdditive(op, q, k, v, value); err != nil {
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

// checkAdditive checks the arguments by their names, which the steps do not know.
func checkAdditive(op string, q, k, v, value *G.Node) error {
	if err := checkArgs(op, named("q", "k", "v", "value"), G.Nodes{q, k, v, value}); err != nil {
		return err
	}
	if _, err := (pairwiseAdd[float64]{}).shape([]tensor.Shape{q.Shape(), k.Shape()}); err != nil {
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
	return applyTyped(pairwiseAdd[float32]{}, pairwiseAdd[float64]{}, q, k)
}

type pairwiseAdd[F kernel.Float] struct{}

func (pairwiseAdd[F]) spec() (string, []arg) { return "PairwiseAdd", named("q", "k") }

func (pairwiseAdd[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	q, k := in[0], in[1]
	n := q.Dims()
	if n < 2 {
		return nil, &ShapeError{"PairwiseAdd", "q", q, "(…, T, A)"}
	}
	want := q.Clone()
	if k.Dims() == n {
		want[n-2] = k[n-2]
	}
	if !slices.Equal(k, want) {
		want[n-2] = -1 // any length
		return nil, &ShapeError{"PairwiseAdd", "k", k, shapeWithAny(want, "S")}
	}
	return append(q[:n-1].Clone(), k[n-2], q[n-1]), nil
}

func (pairwiseAdd[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	q, k, y := dense.Floats[F](in[0]), dense.Floats[F](in[1]), dense.Floats[F](out)
	t, s, a := pairAxes(out.Shape())
	kernel.Parallel(len(q)/a, 1+pairGrain/(s*a), func(first, end int) {
		for row := first; row < end; row++ { // b·T + t
			kernel.AddRows(y[row*s*a:][:s*a], k[row/t*s*a:][:s*a], q[row*a:][:a])
		}
	})
	return nil
}

// pairGrain is how many numbers of pairs are worth a goroutine.
const pairGrain = 1 << 14

// pairAxes returns the last three axes of (…, T, S, A).
func pairAxes(shape tensor.Shape) (t, s, a int) {
	n := len(shape)
	return shape[n-3], shape[n-2], shape[n-1]
}

// y[t,s] = q[t] + k[s]:  dq[t] = Σₛ dy[t,s], dk[s] = Σₜ dy[t,s].
func (pairwiseAdd[F]) backward(_ G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	var f expr.Formula
	dq, dk := f.Of(apply(pairwiseSum[F]{OverKeys: true}, dy)), f.Of(apply(pairwiseSum[F]{}, dy))
	return G.Nodes{dq, dk}, f.Err()
}

// pairwiseSum sums (…, T, S, A) over S or over T.
type pairwiseSum[F kernel.Float] struct {
	isGradient
	OverKeys bool
}

func (pairwiseSum[F]) spec() (string, []arg) { return "PairwiseSum", named("x") }

func (o pairwiseSum[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	t, s, a := pairAxes(in[0])
	if o.OverKeys {
		s = t
	}
	return append(in[0][:in[0].Dims()-3].Clone(), s, a), nil
}

func (o pairwiseSum[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	x, y := dense.Floats[F](in[0]), dense.Floats[F](out)
	t, s, a := pairAxes(in[0].Shape())
	clear(y)
	pairs := t * s * a
	kernel.Parallel(len(x)/pairs, 1+pairGrain/pairs, func(first, end int) {
		for row := first * t * s; row < end*t*s; row++ {
			to := row / s // b·T + t
			if !o.OverKeys {
				to = row/(t*s)*s + row%s // b·S + s
			}
			yr := y[to*a:][:a]
			for i, v := range x[row*a:][:a] {
				yr[i] += v
			}
		}
	})
	return nil
}
