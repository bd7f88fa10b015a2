package graph

import (
	"fmt"
	"math"
	"slices"

	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// AttentionConfig says how attention turns scores into weights. Its zero value is
// plain scaled dot-product attention.
type AttentionConfig struct {
	Heads   int     // heads that lie side by side in the last axis of q; 0 means q, k and v are one head's
	KVHeads int     // heads that lie side by side in k and v, a divisor of Heads that shares each among Heads/KVHeads query heads; 0 means Heads
	Scale   float64 // of the scores before the softmax; 0 means 1/√D
	Mask    Mask    // which keys a query sees; nil means all
	Dropout Drop    // of the weights, after the softmax
}

// Attention is scaled dot-product attention (Vaswani et al. 2017, equation 1;
// torch's scaled_dot_product_attention):
//
//	weights = dropout(softmax(mask(q·kᵀ)·scale))
//	out     = weights·v
//
// q is (…, T, D), k (…, S, D), v (…, S, Dv) with equal leading axes, none of them
// needed; out is (…, T, Dv), weights (…, T, S). With c.Heads = H, the heads of
// multi-head attention lie side by side: q is (…, T, H·D), k (…, S, K·D), v
// (…, S, K·Dv), out (…, T, H·Dv), weights (…, H, T, S). With c.KVHeads = K < H it is
// grouped-query attention (Ainslie et al. 2023): query head h meets key/value head
// h/(H/K).
//
// It is composed of this package's ops, one for each step. FusedAttention computes
// the same out faster and without holding the weights.
func Attention(q, k, v *G.Node, c AttentionConfig) (out, weights *G.Node, err error) {
	if c, err = c.resolve("Attention", q, k, v); err != nil {
		return nil, nil, err
	}
	var f expr.Formula[G.Node]
	if c.Heads > 0 {
		q = f.Of(SplitHeads(q, c.Heads))            // (…, H, T, D)
		k = f.Of(SplitHeads(k, c.KVHeads))          // (…, K, S, D)
		v = f.Of(SplitHeads(v, c.KVHeads))          // (…, K, S, Dv)
		k = f.Of(RepeatHeads(k, c.Heads/c.KVHeads)) // (…, H, S, D)
		v = f.Of(RepeatHeads(v, c.Heads/c.KVHeads)) // (…, H, S, Dv)
	}
	scores := f.Of(Scores(q, k))
	scores = f.Of(c.Mask.hideScores(scores))
	weights = f.Of(Softmax(f.Of(Scale(scores, c.Scale))))
	weights = f.Of(c.Mask.hideWeights(weights))
	weights = f.Of(Dropout(weights, c.Dropout))
	out = f.Of(MatMul(weights, v))
	if c.Heads > 0 {
		out = f.Of(MergeHeads(out))
	}
	if err := f.Err(); err != nil {
		return nil, nil, err
	}
	return out, weights, nil
}

// resolve checks the arguments and replaces zeros by the defaults they stand for.
func (c AttentionConfig) resolve(op string, q, k, v *G.Node) (AttentionConfig, error) {
	args := []arg{{name: "q"}, {name: "k"}, {name: "v"}}
	if err := checkArgs(op, args, G.Nodes{q, k, v}); err != nil {
		return c, err
	}
	if c.Heads < 0 {
		return c, fmt.Errorf("graph: %s: heads: got %d, want at least 0", op, c.Heads)
	}
	heads := max(c.Heads, 1)
	if c.KVHeads == 0 {
		c.KVHeads = heads
	}
	if c.KVHeads < 1 || heads%c.KVHeads != 0 {
		return c, fmt.Errorf("graph: %s: key/value heads: got %d, want a divisor of the %d heads", op, c.KVHeads, heads)
	}
	qs, ks, vs := q.Shape(), k.Shape(), v.Shape()
	n := len(qs)
	if n < 2 || qs[n-1]%heads != 0 {
		want := "(…, T, D)"
		if c.Heads > 0 {
			want = fmt.Sprintf("(…, T, H·D) with H=%d", heads)
		}
		return c, &ShapeError{op, "q", qs, want}
	}
	lead := slices.Clone(qs[:n-2])
	if width := qs[n-1] / heads * c.KVHeads; len(ks) != n || !slices.Equal(ks[:n-2], lead) || ks[n-1] != width {
		return c, &ShapeError{op, "k", ks, shapeWithAny(append(lead, -1, width), "S")}
	}
	if len(vs) != n || !slices.Equal(vs[:n-1], ks[:n-1]) || vs[n-1]%c.KVHeads != 0 {
		letter := "Dv"
		if c.Heads > 0 {
			letter = fmt.Sprintf("%d·Dv", c.KVHeads)
		}
		return c, &ShapeError{op, "v", vs, shapeWithAny(append(lead, ks[n-2], -1), letter)}
	}
	if c.Mask == nil {
		c.Mask = All{}
	}
	if t, s := qs[n-2], ks[n-2]; t != s && c.Mask.square() {
		return c, &ShapeError{op, "k", ks, fmt.Sprintf("S = T = %d under %T", t, c.Mask)}
	}
	if c.Scale == 0 {
		c.Scale = 1 / math.Sqrt(float64(qs[n-1]/heads))
	}
	if !(c.Scale > 0) || math.IsInf(c.Scale, 0) {
		return c, fmt.Errorf("graph: %s: scale: got %v, want a finite number above 0", op, c.Scale)
	}
	return c, checkP("Dropout", c.Dropout.P)
}

// A Mask says which keys each query sees.
type Mask interface {
	hideScores(scores *G.Node) (*G.Node, error)   // before the softmax
	hideWeights(weights *G.Node) (*G.Node, error) // after the softmax
	// keys is the range lo ≤ s < hi of keys that query t sees.
	keys(t, keys int) (lo, hi int)
	square() bool // whether it is defined for T = S alone
}

// Causal shows each query its own key and those before it, T = S. Scores of the
// keys after it are filled with −∞.
type Causal struct{}

func (Causal) hideScores(s *G.Node) (*G.Node, error)  { return CausalFill(s) }
func (Causal) hideWeights(w *G.Node) (*G.Node, error) { return w, nil }
func (Causal) keys(t, _ int) (lo, hi int)             { return 0, t + 1 }
func (Causal) square() bool                           { return true }

// CausalRenormalized shows the same keys as Causal by another way: the weights
// of hidden keys are multiplied by zero and the rest made to sum to one again. A
// hidden score so far above the visible ones that it takes all weight leaves that
// row zero; FusedAttention, which skips hidden keys, gives the row of Causal there.
type CausalRenormalized struct{}

func (CausalRenormalized) hideScores(s *G.Node) (*G.Node, error) { return s, nil }

func (CausalRenormalized) hideWeights(w *G.Node) (*G.Node, error) {
	var f expr.Formula[G.Node]
	w = f.Of(Normalize(f.Of(Tril(w))))
	return w, f.Err()
}

func (CausalRenormalized) keys(t, _ int) (lo, hi int) { return 0, t + 1 }
func (CausalRenormalized) square() bool               { return true }

// All shows each query every key.
type All struct{}

func (All) hideScores(s *G.Node) (*G.Node, error)  { return s, nil }
func (All) hideWeights(w *G.Node) (*G.Node, error) { return w, nil }
func (All) keys(_, keys int) (lo, hi int)          { return 0, keys }
func (All) square() bool                           { return false }
