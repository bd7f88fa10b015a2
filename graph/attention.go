package graph

import (
	"fmt"
	"math"
	"slices"

	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// AttentionConfig says how attention turns scores into weights. Its zero value is
// plain scaled dot-product attention.
type AttentionConfig struct {
	Heads   int     // H, heads that lie side by side in the last axis of q; 0 means q, k and v are one head's
	KVHeads int     // K, heads that lie side by side in k and v, a divisor of H that shares each among H/K query heads; 0 means H
	Scale   float64 // of the scores before the softmax; 0 means 1/√D
	Softcap float64 // c > 0 keeps scores within ±c, as c·tanh(score/c); 0 means they stay

	Mask        Mask // which keys a query sees; nil means all
	Renormalize bool // hides keys by zeroing weights after the softmax and dividing by what is left, instead of −∞ before it

	Bias         *G.Node // added to the scores, broadcasts to (…, H, T, S) as in torch; may be nil
	RelativeBias *G.Node // added to the scores, (H, T+S−1) or (1, T+S−1): that of query t and key s is [h, t − s + S−1]; may be nil
	Sinks        *G.Node // (H) scores that take weight and have no value; may be nil

	// ExtraKeys is how many of the last keys every query sees, without any bias: mask
	// and biases are then for the S−ExtraKeys before them (torch's add_bias_kv and
	// add_zero_attn).
	ExtraKeys int

	Dropout DropoutConfig // of the weights, after the softmax
}

// Attention is scaled dot-product attention (Vaswani et al. 2017, equation 1;
// torch's scaled_dot_product_attention):
//
//	scores  = softcap(q·kᵀ·scale) + bias
//	weights = dropout(softmax(mask(scores)))
//	out     = weights·v
//
// q is (…, T, D), k (…, S, D), v (…, S, Dv) with equal leading axes, none of them
// needed; out is (…, T, Dv), weights (…, T, S). The last of two leading axes or more is
// the heads'. With c.Heads = H, the heads of multi-head attention lie side by side: q is
// (…, T, H·D), k (…, S, K·D), v (…, S, K·Dv), out (…, T, H·Dv), weights (…, H, T, S).
// With c.KVHeads = K < H it is grouped-query attention (Ainslie et al. 2023): query head
// h meets key/value head h/(H/K).
//
// It is composed of this package's ops, one for each step. FusedAttention computes
// the same out faster and without holding the weights. Hidden keys and values have to be
// finite numbers: here a weight of 0 times ∞ is NaN.
func Attention(q, k, v *G.Node, c AttentionConfig) (out, weights *G.Node, err error) {
	a, err := c.resolve("Attention", q, k, v)
	if err != nil {
		return nil, nil, err
	}
	var f expr.Formula
	if c.Heads > 0 {
		q = f.Of(SplitHeads(q, c.Heads))            // (…, H, T, D)
		k = f.Of(SplitHeads(k, a.KVHeads))          // (…, K, S, D)
		v = f.Of(SplitHeads(v, a.KVHeads))          // (…, K, S, Dv)
		k = f.Of(RepeatHeads(k, a.Heads/a.KVHeads)) // (…, H, S, D)
		v = f.Of(RepeatHeads(v, a.Heads/a.KVHeads)) // (…, H, S, Dv)
	}
	scores := f.Of(Scale(f.Of(Scores(q, k)), a.Scale))
	if c.Softcap > 0 {
		scores = f.Of(Softcap(scores, c.Softcap))
	}
	if c.Bias != nil {
		scores = f.Of(apply(addBias{a.axes.Heads, c.ExtraKeys}, scores, c.Bias))
	}
	if c.RelativeBias != nil {
		bias := f.Of(ExpandRelativeBias(c.RelativeBias, a.axes.T, a.axes.S))
		if !a.axes.Heads && len(a.axes.Batch) == 0 {
			bias = f.Of(MergeHeads(bias)) // (1, T, S) → (T, S)
		}
		scores = f.Of(apply(addBias{a.axes.Heads, c.ExtraKeys}, scores, bias))
	}
	if !c.Renormalize {
		scores = f.Of(a.fill(scores, math.Inf(-1)))
	}
	if c.Sinks != nil {
		weights = f.Of(apply(softmaxWithSinks{a.axes.Heads}, scores, c.Sinks))
	} else {
		weights = f.Of(Softmax(scores))
	}
	if c.Renormalize {
		weights = f.Of(DivideBySum(f.Of(a.fill(weights, 0))))
	}
	weights = f.Of(Dropout(weights, c.Dropout))
	out = f.Of(MatMul(weights, v))
	if c.Heads > 0 {
		out = f.Of(MergeHeads(out))
	}
	return f.Result2(out, weights)
}

// resolved is an attention whose arguments were checked and whose mask is compiled.
type resolved struct {
	Heads, KVHeads int      // at least 1
	Scale          float64  // not 0
	axes           maskAxes // of the scores, with S without the extra keys
	rule           rule
	extra          int
	ruleArgs       []arg // what the rule reads
	ruleNodes      G.Nodes
}

// fill puts hidden where the mask hides a key.
func (a *resolved) fill(x *G.Node, hidden float64) (*G.Node, error) {
	if a.rule == (everything{}) {
		return x, nil
	}
	fill := maskFill{Name: "MaskFill", Rule: a.rule, Heads: a.axes.Heads, Hidden: hidden, args: a.ruleArgs}
	if hidden == 0 {
		fill.Name = "MaskZero"
	}
	return apply(fill, append(G.Nodes{x}, a.ruleNodes...)...)
}

// resolve checks the arguments, replaces zeros by the defaults they stand for and
// compiles the mask.
func (c AttentionConfig) resolve(op string, q, k, v *G.Node) (*resolved, error) {
	a, err := c.resolveShapes(op, q, k, v)
	if err != nil {
		return nil, err
	}
	if err := c.resolveNumbers(op, a, q); err != nil {
		return nil, err
	}
	if err := c.checkBiases(op, a, q); err != nil {
		return nil, err
	}
	return a, c.compileMask(op, a, nil)
}

// resolveShapes checks q, k and v.
func (c AttentionConfig) resolveShapes(op string, q, k, v *G.Node) (*resolved, error) {
	args := []arg{{name: "q"}, {name: "k"}, {name: "v"}}
	if err := checkArgs(op, args, G.Nodes{q, k, v}); err != nil {
		return nil, err
	}
	if c.Heads < 0 {
		return nil, fmt.Errorf("graph: %s: heads: got %d, want at least 0", op, c.Heads)
	}
	a := &resolved{Heads: max(c.Heads, 1), KVHeads: c.KVHeads}
	if a.KVHeads == 0 {
		a.KVHeads = a.Heads
	}
	if a.KVHeads < 1 || a.Heads%a.KVHeads != 0 {
		return nil, fmt.Errorf("graph: %s: key/value heads: got %d, want a divisor of the %d heads", op, a.KVHeads, a.Heads)
	}
	qs, ks, vs := q.Shape(), k.Shape(), v.Shape()
	n := len(qs)
	if n < 2 || qs[n-1]%a.Heads != 0 {
		want := "(…, T, D)"
		if c.Heads > 0 {
			want = fmt.Sprintf("(…, T, H·D) with H=%d", a.Heads)
		}
		return nil, &ShapeError{op, "q", qs, want}
	}
	lead := slices.Clone(qs[:n-2])
	if width := qs[n-1] / a.Heads * a.KVHeads; len(ks) != n || !slices.Equal(ks[:n-2], lead) || ks[n-1] != width {
		return nil, &ShapeError{op, "k", ks, shapeWithAny(append(lead, -1, width), "S")}
	}
	if len(vs) != n || !slices.Equal(vs[:n-1], ks[:n-1]) || vs[n-1]%a.KVHeads != 0 {
		letter := "Dv"
		if c.Heads > 0 {
			letter = fmt.Sprintf("%d·Dv", a.KVHeads)
		}
		return nil, &ShapeError{op, "v", vs, shapeWithAny(append(lead, ks[n-2], -1), letter)}
	}
	a.axes = attentionAxes(qs, ks, c.Heads)
	return a, nil
}

// attentionAxes are the axes of the scores of q and k: with heads side by side in their
// rows, or else with an axis of heads if there is more than one before T.
func attentionAxes(q, k tensor.Shape, heads int) maskAxes {
	n := len(q)
	scores := slices.Clone(q[:n-2])
	if heads > 0 {
		scores = append(scores, heads)
	}
	return scoreAxes(append(scores, q[n-2], k[n-2]), heads > 0 || n > 3)
}

// resolveNumbers checks scale, softcap, extra keys and dropout.
func (c AttentionConfig) resolveNumbers(op string, a *resolved, q *G.Node) error {
	if a.Scale = c.Scale; a.Scale == 0 {
		a.Scale = 1 / math.Sqrt(float64(last(q.Shape())/a.Heads))
	}
	if !(a.Scale > 0) || math.IsInf(a.Scale, 0) {
		return fmt.Errorf("graph: %s: scale: got %v, want a finite number above 0", op, a.Scale)
	}
	if !(c.Softcap >= 0) || math.IsInf(c.Softcap, 0) {
		return fmt.Errorf("graph: %s: softcap: got %v, want a finite number above 0, or 0 for none", op, c.Softcap)
	}
	if c.ExtraKeys < 0 || c.ExtraKeys >= a.axes.S {
		return fmt.Errorf("graph: %s: extra keys: got %d, want 0 or more and fewer than S=%d", op, c.ExtraKeys, a.axes.S)
	}
	if a.extra = c.ExtraKeys; c.Renormalize && c.Sinks != nil {
		return fmt.Errorf("graph: %s: sinks: got them with renormalized weights, want one of the two", op)
	}
	a.axes.S -= c.ExtraKeys
	return c.Dropout.Validate()
}

// checkBiases checks the nodes that are added to the scores.
func (c AttentionConfig) checkBiases(op string, a *resolved, q *G.Node) error {
	like := func(name string, n *G.Node) error {
		return checkArgs(op, []arg{{name: "q"}, {name: name}}, G.Nodes{q, n})
	}
	if c.Bias != nil {
		if err := like("bias", c.Bias); err != nil {
			return err
		}
		if _, err := broadcastLayout(op, "bias", c.Bias.Shape(), a.axes); err != nil {
			return err
		}
	}
	if c.RelativeBias != nil {
		if err := like("relative_bias", c.RelativeBias); err != nil {
			return err
		}
		s, n := c.RelativeBias.Shape(), a.axes.T+a.axes.S-1
		if len(s) != 2 || s[1] != n || s[0] != 1 && s[0] != a.axes.H {
			return &ShapeError{op, "relative_bias", s, fmt.Sprintf("(H, T+S−1) = %v, or one row", tensor.Shape{a.axes.H, n})}
		}
	}
	if c.Sinks != nil {
		if err := like("sinks", c.Sinks); err != nil {
			return err
		}
		return checkSinks(op, c.Sinks.Shape(), a.axes)
	}
	return nil
}

// compileMask makes the rule of the mask, for a cache if there is one.
func (c AttentionConfig) compileMask(op string, a *resolved, cache *KVCache) (err error) {
	compiler := maskCompiler{op: op, axes: a.axes, cache: cache}
	if a.rule, err = compiler.whole(c.Mask); err != nil {
		return err
	}
	if cache != nil && cache.config.Rolling {
		first := cache.config.KeepFirst
		window := band{Left: cache.config.Capacity - first - 1}
		a.rule = pair{a.rule, pair{window, prefix{first}, true}, false}
	}
	if a.extra > 0 && a.rule != (everything{}) {
		a.rule = withExtra{a.rule, a.extra}
	}
	a.ruleArgs, a.ruleNodes = compiler.args, compiler.nodes
	return nil
}
