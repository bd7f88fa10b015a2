package graph

import (
	"fmt"
	"math"

	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// AttentionConfig says how Attention turns scores into weights. Its zero value is
// plain scaled dot-product attention.
type AttentionConfig struct {
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
// needed; out is (…, T, Dv), weights (…, T, S).
func Attention(q, k, v *G.Node, c AttentionConfig) (out, weights *G.Node, err error) {
	if q == nil || q.Dims() < 2 {
		_, err = Scores(q, k) // its error names q
		return nil, nil, err
	}
	if c.Scale == 0 {
		c.Scale = 1 / math.Sqrt(float64(last(q.Shape())))
	}
	if !(c.Scale > 0) || math.IsInf(c.Scale, 0) {
		return nil, nil, fmt.Errorf("graph: Attention: scale: got %v, want a finite number above 0", c.Scale)
	}
	if c.Mask == nil {
		c.Mask = showAll{}
	}
	var f expr.Formula[G.Node]
	scores := f.Of(Scores(q, k))
	scores = f.Of(c.Mask.hideScores(scores))
	weights = f.Of(Softmax(f.Of(Scale(scores, c.Scale))))
	weights = f.Of(c.Mask.hideWeights(weights))
	weights = f.Of(Dropout(weights, c.Dropout))
	out = f.Of(MatMul(weights, v))
	return out, weights, f.Err()
}

// A Mask says which keys each query sees.
type Mask interface {
	hideScores(scores *G.Node) (*G.Node, error)   // before the softmax
	hideWeights(weights *G.Node) (*G.Node, error) // after the softmax
}

// Causal shows each query its own key and those before it, T = S. Scores of the
// keys after it are filled with −∞.
type Causal struct{}

func (Causal) hideScores(s *G.Node) (*G.Node, error)  { return CausalFill(s) }
func (Causal) hideWeights(w *G.Node) (*G.Node, error) { return w, nil }

// CausalRenormalized shows the same keys as Causal by another way: the weights
// of hidden keys are multiplied by zero and the rest made to sum to one again.
type CausalRenormalized struct{}

func (CausalRenormalized) hideScores(s *G.Node) (*G.Node, error) { return s, nil }

func (CausalRenormalized) hideWeights(w *G.Node) (*G.Node, error) {
	var f expr.Formula[G.Node]
	w = f.Of(Normalize(f.Of(Tril(w))))
	return w, f.Err()
}

type showAll struct{}

func (showAll) hideScores(s *G.Node) (*G.Node, error)  { return s, nil }
func (showAll) hideWeights(w *G.Node) (*G.Node, error) { return w, nil }
