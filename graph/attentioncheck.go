package graph

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// attentionArgs is a config for its q, k and v: zeros are replaced by their defaults, and the
// mask is resolved.
type attentionArgs struct {
	AttentionConfig // with a Scale; Heads stays 0 if q, k and v have an axis of heads

	op                   string
	q                    *G.Node     // or the tensor that contains it
	numHeads, numKVHeads int         // at least 1
	scores               mask.Scores // without the extra keys
	mask                 resolvedMask
}

// resolve checks the arguments of an attention.
func (c AttentionConfig) resolve(op string, q, k, v *G.Node) (*attentionArgs, error) {
	if err := checkArgs(op, named("q", "k", "v"), G.Nodes{q, k, v}); err != nil {
		return nil, err
	}
	a, err := c.resolveShapes(op, q, q.Shape(), k.Shape(), v.Shape())
	if err != nil {
		return nil, err
	}
	return a, a.choose(FusedInputs{Query: q, Key: k, Value: v})
}

// resolveShapes checks a config for q, k and v of the given shapes.
func (c AttentionConfig) resolveShapes(op string, x *G.Node, q, k, v tensor.Shape) (*attentionArgs, error) {
	a := &attentionArgs{AttentionConfig: c, op: op, q: x}
	if err := a.checkShapes(q, k, v); err != nil {
		return nil, err
	}
	if err := a.checkNumbers(last(q) / a.numHeads); err != nil {
		return nil, err
	}
	a.scores.S -= c.ExtraKeys
	return a, a.resolveInputs()
}

// checkShapes checks the heads of q (…, T, H·D), k (…, S, K·D) and v (…, S, K·Dv).
func (a *attentionArgs) checkShapes(q, k, v tensor.Shape) error {
	if a.Heads < 0 {
		return a.errorf("heads: got %d, want at least 0", a.Heads)
	}
	a.numHeads = max(a.Heads, 1)
	a.numKVHeads = cmp.Or(a.KVHeads, a.numHeads)
	if a.numKVHeads < 1 || a.numHeads%a.numKVHeads != 0 {
		return a.errorf("key/value heads: got %d, want a divisor of the %d heads", a.numKVHeads, a.numHeads)
	}
	n := len(q)
	if n < 2 || q[n-1]%a.numHeads != 0 {
		want := "(…, T, D)"
		if a.Heads > 0 {
			want = fmt.Sprintf("(…, T, H·D) with H=%d", a.numHeads)
		}
		return &ShapeError{a.op, "q", q, want}
	}
	lead, width := slices.Clone(q[:n-2]), q[n-1]/a.numHeads*a.numKVHeads
	if len(k) != n || !slices.Equal(k[:n-2], lead) || k[n-1] != width {
		return &ShapeError{a.op, "k", k, shapeWithAny(append(lead, -1, width), "S")}
	}
	if len(v) != n || !slices.Equal(v[:n-1], k[:n-1]) || v[n-1]%a.numKVHeads != 0 {
		letter := "Dv"
		if a.Heads > 0 {
			letter = fmt.Sprintf("%d·Dv", a.numKVHeads)
		}
		return &ShapeError{a.op, "v", v, shapeWithAny(append(lead, k[n-2], -1), letter)}
	}
	for i, shape := range []tensor.Shape{q, k, v} {
		if slices.Contains(shape, 0) {
			return &ShapeError{a.op, []string{"q", "k", "v"}[i], shape, "every axis at least 1"}
		}
	}
	a.scores = scoresOf(q, k, a.Heads)
	return nil
}

func (a *attentionArgs) errorf(format string, args ...any) error {
	return fmt.Errorf("graph: %s: %w", a.op, fmt.Errorf(format, args...))
}

// scoresOf returns the axes of the scores of q and k. They have an axis of heads if the heads are side by side in the
// rows of q, or if q has more than one axis before T.
func scoresOf(q, k tensor.Shape, heads int) mask.Scores {
	n := len(q)
	scores := slices.Clone(q[:n-2])
	if heads > 0 {
		scores = append(scores, heads)
	}
	return mask.ScoresOf(append(scores, q[n-2], k[n-2]), heads > 0 || n > 3)
}

// checkNumbers checks scale, softcap, extra keys and dropout.
func (a *attentionArgs) checkNumbers(width int) error {
	a.Scale = cmp.Or(a.Scale, 1/math.Sqrt(float64(width)))
	switch {
	case !(a.Scale > 0) || math.IsInf(a.Scale, 0):
		return a.errorf("scale: got %v, want a finite number above 0", a.Scale)
	case !(a.Softcap >= 0) || math.IsInf(a.Softcap, 0):
		return a.errorf("softcap: got %v, want a finite number above 0, or 0 for none", a.Softcap)
	case a.Sigmoid && a.Sinks != nil:
		return a.errorf("sinks: got some with a sigmoid, which no key takes weight from, want none")
	case !a.Sigmoid && a.SigmoidBias != 0:
		return a.errorf("sigmoid bias: got %v without a sigmoid, want 0", a.SigmoidBias)
	case math.IsNaN(a.SigmoidBias) || math.IsInf(a.SigmoidBias, 0):
		return a.errorf("sigmoid bias: got %v, want a finite number", a.SigmoidBias)
	case a.ExtraKeys < 0 || a.ExtraKeys >= a.scores.S:
		return a.errorf("extra keys: got %d, want 0 or more and fewer than S=%d", a.ExtraKeys, a.scores.S)
	}
	for _, x := range []struct {
		name string
		v    float64
	}{{"scale", a.Scale}, {"softcap", cmp.Or(a.Softcap, 1)}} {
		if err := fitting(a.q.Dtype(), x.v); err != nil {
			return a.errorf("%s: %w", x.name, err)
		}
	}
	return a.Dropout.Validate()
}

// resolveInputs checks the nodes that are added to the scores, and resolves the mask.
func (a *attentionArgs) resolveInputs() (err error) {
	if err := a.checkScore(); err != nil {
		return err
	}
	for _, x := range []struct {
		name  string
		node  *G.Node
		check func(shape tensor.Shape) error
	}{
		{"bias", a.Bias, a.checkBias},
		{"relative_bias", a.RelativeBias, a.checkRelativeBias},
		{"log_gates", a.LogGates, a.checkLogGates},
		{"sinks", a.Sinks, func(s tensor.Shape) error { return checkSinks(a.op, s, a.scores) }},
	} {
		if x.node == nil {
			continue
		}
		if err := checkArgs(a.op, named("q", x.name), G.Nodes{a.q, x.node}); err != nil {
			return err
		}
		if err := x.check(x.node.Shape()); err != nil {
			return err
		}
	}
	a.mask, err = resolveMask(a.op, a.Mask, a.scores)
	return err
}

func (a *attentionArgs) checkBias(shape tensor.Shape) error {
	_, err := broadcast(a.op, "bias", shape, a.scores)
	return err
}

// checkRelativeBias checks that there is a number for each distance of a query and a key, for each head or for all
// heads. With a cache there may be numbers for greater distances, too.
func (a *attentionArgs) checkRelativeBias(s tensor.Shape) error {
	n := a.scores.T + a.scores.S - 1
	if len(s) == 2 && (s[0] == 1 || s[0] == a.scores.H) && (s[1] == n || a.scores.Starts != nil && s[1] > n) {
		return nil
	}
	want := fmt.Sprintf("(H, T+S−1) = %v, or one row", tensor.Shape{a.scores.H, n})
	if a.scores.Starts != nil {
		want = fmt.Sprintf("(H=%d, N ≥ T−1+Capacity=%d), or one row", a.scores.H, n)
	}
	return &ShapeError{a.op, "relative_bias", s, want}
}

func checkSinks(op string, sinks tensor.Shape, axes mask.Scores) error {
	if len(sinks) != 1 || sinks[0] != axes.H {
		return &ShapeError{op, "sinks", sinks, fmt.Sprintf("(H=%d)", axes.H)}
	}
	return nil
}
