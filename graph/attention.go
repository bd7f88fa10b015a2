package graph

import (
	"attention/graph/mask"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// AttentionConfig sets how attention turns scores into weights. Its zero value is plain scaled dot-product attention.
type AttentionConfig struct {
	Heads   int     // H, heads side by side in the last axis of q; 0 means q, k and v belong to one head
	KVHeads int     // K, heads side by side in k and v, each shared by H/K query heads; 0 means H
	Scale   float64 // of the scores before the softmax; 0 means 1/√D
	Softcap float64 // c > 0 keeps scores within ±c, as c·tanh(score/c); 0 means they stay
	// Score changes the scores after Softcap, by a ScoreFunc or a ScoreGraph; nil means they stay.
	Score ScoreMod

	Mask mask.Mask // which keys a query sees; nil means all

	// Bias is added to the scores and broadcasts to (…, H, T, S) as in torch, with one restriction: the axes before H are
	// either all those of the scores or all 1. It may be nil. It may be nil.
	Bias *G.Node
	// RelativeBias is added to the scores, (H, T+S−1) or (1, T+S−1): the element of query
	// t and key s is [h, t − s + S−1]. It may be nil.
	RelativeBias *G.Node
	// LogGates makes it forgetting attention (Lin et al. 2025): the logarithms of a gate between 0 and 1 for each key and
	// head, (…, S, H), or (…, S) if q, k and v have an axis of heads. The queries are the last T of the keys. The score of
	// query t and key s gets the sum of the log-gates of the keys after s up to the query's own; for a key after the query
	// the log-gates between the two are subtracted. Sums are float64. It may be nil.
	LogGates *G.Node
	Sinks    *G.Node // (H) scores that take weight and have no value; may be nil

	// Sigmoid computes the weights as sigmoid(scores + SigmoidBias) in place of the softmax (Ramapuram et al. 2024): they
	// need not add up to 1, and there are no sinks. 2024): they need not add up to 1, and there are no sinks. A
	// SigmoidBias below 0 keeps the weights small, as division by the sum does in a softmax; the paper uses −ln S for the
	// longest S.
	Sigmoid     bool
	SigmoidBias float64

	// ExtraKeys is how many of the last keys every query sees, without any bias: mask, biases and log-gates then cover the
	// S−ExtraKeys keys before them (torch's add_bias_kv and add_zero_attn).
	ExtraKeys int

	// Sparse shows each query a few blocks of keys, chosen by their content; nil shows all keys that Mask shows.
	Sparse *BlockSparse

	Dropout DropoutConfig // of the weights, after the softmax

	// Precision of the products q·kᵀ and weights·v, and of the products of their gradients.
	Precision Precision
}

// Attention returns scaled dot-product attention (Vaswani et al. 2017, equation 1;
// torch's scaled_dot_product_attention):
//
//	scores  = score(softcap(q·kᵀ·scale)) + bias + forget
//	weights = dropout(softmax(mask(scores))), or with Sigmoid dropout(sigmoid(mask(scores) + SigmoidBias))
//	out     = weights·v
//
// q is (…, T, D), k (…, S, D), v (…, S, Dv) with equal leading axes, none of them needed; out is (…, T, Dv), weights
// (…, T, S). If there are two or more leading axes, the last one is H. With c.Heads = H, the heads of multi-head
// attention are side by side: q is (…, T, H·D), k (…, S, K·D), v (…, S, K·Dv), out (…, T, H·Dv), weights (…, H, T, S).
// With c.KVHeads = K < H it is grouped-query attention (Ainslie et al. 2023): query head h attends to key/value head
// h/(H/K).
//
// The attention is composed of this package's ops, one for each step. FusedAttention computes the same out faster, and
// without storing the weights.
//
// The numbers of a hidden key, even NaN and ∞, reach neither out nor a gradient. A visible NaN reaches the rows that
// see it, even under dropout: a dropped weight is 0, and 0·NaN is NaN. A sink of NaN or +∞ makes every row NaN that
// sees a key; a row that sees no key stays 0.
func Attention(q, k, v *G.Node, c AttentionConfig) (out, weights *G.Node, err error) {
	a, err := c.resolve("Attention", q, k, v)
	if err != nil {
		return nil, nil, err
	}
	var f expr.Formula
	q = f.Of(a.splitHeads(q, a.numHeads))             // (…, H, T, D)
	k = f.Of(a.splitHeads(k, a.numKVHeads))           // (…, K, S, D)
	v = f.Of(a.splitHeads(v, a.numKVHeads))           // (…, K, S, Dv)
	k = f.Of(RepeatHeads(k, a.numHeads/a.numKVHeads)) // (…, H, S, D)
	v = f.Of(RepeatHeads(v, a.numHeads/a.numKVHeads)) // (…, H, S, Dv)
	scores := f.Of(a.product(q, k, true))             // (…, H, T, S), q·kᵀ of the pairs that the mask shows
	scores = f.Of(Scale(scores, a.Scale))             // (…, H, T, S)
	scores = f.Of(a.softcap(scores))                  // (…, H, T, S)
	scores = f.Of(a.change(scores))                   // (…, H, T, S)
	scores = f.Of(a.addBias(scores))                  // (…, H, T, S)
	scores = f.Of(a.addRelativeBias(scores))          // (…, H, T, S)
	scores = f.Of(a.forget(scores))                   // (…, H, T, S)
	scores = f.Of(a.hide(scores))                     // (…, H, T, S), −∞ where the mask hides a key
	weights = f.Of(a.weigh(scores))                   // (…, H, T, S)
	weights = f.Of(Dropout(weights, c.Dropout))       // (…, H, T, S)
	out = f.Of(a.product(weights, v, false))          // (…, H, T, Dv), weights·v of these pairs
	out = f.Of(a.mergeHeads(out))                     // (…, T, H·Dv)
	return f.Result2(out, weights)
}
