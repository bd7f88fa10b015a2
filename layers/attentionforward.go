package layers

import (
	"fmt"
	"slices"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// attend is how queries, keys and values become context vectors and, if it is
// graph.Attention, weights.
type attend func(q, k, v *G.Node, c graph.AttentionConfig) (out, weights *G.Node, err error)

// fused is attention in one op that never holds the weights.
func fused(q, k, v *G.Node, c graph.AttentionConfig) (out, weights *G.Node, err error) {
	out, err = graph.FusedAttention(q, k, v, c)
	return out, nil, err
}

func withoutWeights(out, _ *G.Node, err error) (*G.Node, error) { return out, err }

// qkv are queries, keys and values, each with heads side by side.
type qkv struct {
	q, k, v *G.Node
	packed  *G.Node // in whose rows q, k and v lie side by side; nil if they do not
}

// widths returns those of q, k and v.
func (x qkv) widths() (w [3]int) {
	for i, n := range []*G.Node{x.q, x.k, x.v} {
		w[i] = n.Shape()[n.Dims()-1]
	}
	return w
}

// composed is attention that also returns its weights.
func composed(x qkv, c graph.AttentionConfig) (out, weights *G.Node, err error) {
	return graph.Attention(x.q, x.k, x.v, c)
}

// forward is the whole layer:
//
//	q, k, v = query·Wqᵀ, key·Wkᵀ, value·Wvᵀ   each with heads side by side
//	out     = attention(rope(norm(q)), rope(norm(k)), v)
//	out     = (out ⊙ sigmoid(query·Wgᵀ))·Woᵀ
func (l *Attention) forward(b *Build, in AttentionInput, attend func(x qkv, c graph.AttentionConfig) (out, weights *G.Node, err error)) (out, weights *G.Node, err error) {
	c := l.config
	if in, err = l.resolveInput(b, in); err != nil {
		return nil, nil, err
	}
	var f expr.Formula
	x := l.project(&f, b, in) // (…, T, H·D), (…, S, K·D), (…, S, K·Dv)
	q, k := l.normalize(&f, b, x.q, "q_norm.weight"), l.normalize(&f, b, x.k, "k_norm.weight")
	q, k = l.rotate(&f, b, in, q, k)
	k, v, extra := l.appendKeys(&f, b, k, x.v)
	if q != x.q || k != x.k || v != x.v { // they are not what was projected
		x = qkv{q: q, k: k, v: v}
	}
	if f.Err() != nil {
		return nil, nil, inLayer(l.name, f.Err())
	}
	a := graph.AttentionConfig{
		Heads: c.NumHeads, KVHeads: c.NumKVHeads, Scale: c.Scale, Softcap: c.Softcap, Mask: l.mask(in), Renormalize: c.Renormalize,
		Bias: in.Bias, RelativeBias: l.relativeBias(&f, b, in, length(q), length(k)-extra), Sinks: l.optional(&f, b, c.Sinks, "sinks"),
		ExtraKeys: extra, Dropout: b.Drop(c.Dropout),
	}
	if l.form.headless {
		a.Heads, a.KVHeads = 0, 0
	}
	out, weights = f.Of2(attend(x, a)) // (…, T, H·Dv)
	if c.Gate {
		gate := f.Of(graph.Linear(in.Query, l.node(&f, b, "gate_proj.weight"), nil))
		out = f.Of(graph.Mul(out, f.Of(graph.Sigmoid(gate))))
	}
	out = f.Of(graph.Dropout(out, b.Drop(c.ContextDropout)))
	if !l.form.bare {
		out = l.projectOut(&f, b, out) // (…, T, Out)
	}
	out = f.Of(graph.Dropout(out, b.Drop(c.OutDropout)))
	return result2(l.name, &f, out, weights)
}

// resolveInput checks the sequences and replaces nil by what it stands for.
func (l *Attention) resolveInput(b *Build, in AttentionInput) (AttentionInput, error) {
	c := l.config
	if in.Key == nil {
		in.Key = in.Query
	}
	if in.Value == nil {
		in.Value = in.Key
	}
	for _, x := range []struct {
		arg   string
		node  *G.Node
		width int
	}{{"query", in.Query, c.Width}, {"key", in.Key, c.KeyWidth}, {"value", in.Value, c.ValueWidth}} {
		if err := checkSequence(l.name, x.arg, b, x.node, x.width, 0); err != nil {
			return in, err
		}
	}
	q, k, v := in.Query.Shape(), in.Key.Shape(), in.Value.Shape()
	if !slices.Equal(q[:len(q)-2], k[:len(k)-2]) {
		return in, errorf(l.name, "key: shape %v, want the batch of the query, which is %v", k, q)
	}
	if !slices.Equal(k[:len(k)-1], v[:len(v)-1]) {
		return in, errorf(l.name, "value: shape %v, want as many rows as the key, which is %v", v, k)
	}
	if in.Positions != nil || in.KeyPositions != nil {
		if c.RoPE == nil {
			return in, errorf(l.name, "positions: got them without RoPE, want none")
		}
		if in.Positions == nil && in.Key == in.Query {
			return in, errorf(l.name, "positions: got those of the keys alone, want those of the queries, which are the same tokens")
		}
	}
	if in.Cache == nil && in.Start != nil {
		return in, errorf(l.name, "start: got one without a cache, want both")
	}
	if in.Cache != nil {
		if err := l.checkCache(in); err != nil {
			return in, err
		}
		if in.Positions == nil {
			in.Positions = in.Start
		}
	}
	if in.KeyPositions == nil && in.Key == in.Query {
		in.KeyPositions = in.Positions
	}
	return in, nil
}

// checkCache refuses what has no meaning with a cache.
func (l *Attention) checkCache(in AttentionInput) error {
	c := l.config
	switch {
	case in.Start == nil:
		return errorf(l.name, "start: got nil with a cache, want the number of tokens before")
	case in.Key != in.Query || in.Value != in.Query:
		return errorf(l.name, "key: got another sequence than the query with a cache, want the same")
	case c.Renormalize:
		return errorf(l.name, "cache: got one with Renormalize, want none")
	case c.AddBiasKV || c.AddZeroAttn:
		return errorf(l.name, "cache: got one with AddBiasKV or AddZeroAttn, want none")
	case c.ALiBi && in.Cache.Config().KeepFirst > 0:
		return errorf(l.name, "cache: got one that keeps first tokens with ALiBi, whose bias grows without end, want KeepFirst 0")
	}
	return nil
}

// mask joins the config's mask and the call's.
func (l *Attention) mask(in AttentionInput) mask.Mask {
	switch {
	case l.config.Mask == nil:
		return in.Mask
	case in.Mask == nil:
		return l.config.Mask
	}
	return mask.And(l.config.Mask, in.Mask)
}

// node is the node of a parameter.
func (l *Attention) node(f *expr.Formula, b *Build, name string) *G.Node {
	return f.Of(b.param(l.params[name]))
}

// optional is the node of a parameter that there may not be.
func (l *Attention) optional(f *expr.Formula, b *Build, there bool, name string) *G.Node {
	if !there {
		return nil
	}
	return l.node(f, b, name)
}

func (l *Attention) normalize(f *expr.Formula, b *Build, x *G.Node, gain string) *G.Node {
	switch l.config.QKNorm {
	case RMSNorm:
		return f.Of(graph.RMSNorm(x, l.node(f, b, gain), l.config.QKNormEps))
	case L2Norm:
		return f.Of(graph.L2Norm(x, l.node(f, b, gain), l.config.QKNormEps))
	}
	return x
}

// rotate turns queries and keys by their positions.
func (l *Attention) rotate(f *expr.Formula, b *Build, in AttentionInput, q, k *G.Node) (*G.Node, *G.Node) {
	if l.config.RoPE == nil || f.Err() != nil {
		return q, k
	}
	positions := in.Positions
	if positions == nil {
		positions = f.Of(l.firstPosition(b, length(q), length(k)))
	}
	c := *l.config.RoPE
	c.Heads = l.config.NumHeads
	q = f.Of(graph.RoPE(q, positions, c))
	c.Heads = l.config.NumKVHeads
	return q, f.Of(graph.RoPE(k, in.KeyPositions, c))
}

// length is the T of (…, T, E).
func length(x *G.Node) int { return x.Shape()[x.Dims()-2] }

// offset is the position of the first query.
func (l *Attention) offset(T, S int) (int, error) {
	n, err := l.config.Align.Offset(T, S)
	if err != nil {
		err = fmt.Errorf("Align, for the positions of queries: %w", err)
	}
	return n, err
}

// firstPosition is the position of the first query as a constant.
func (l *Attention) firstPosition(b *Build, T, S int) (*G.Node, error) {
	n, err := l.offset(T, S)
	if err != nil {
		return nil, err
	}
	return G.NewScalar(b.graph, tensor.Int64, G.WithName(fmt.Sprintf("first position %d", n)), G.WithValue(int64(n))), nil
}

// appendKeys adds the keys and values that come after those of the sequence.
func (l *Attention) appendKeys(f *expr.Formula, b *Build, k, v *G.Node) (keys, values *G.Node, extra int) {
	if l.config.AddBiasKV {
		k = f.Of(graph.AppendRow(k, l.node(f, b, "bias_k")))
		v = f.Of(graph.AppendRow(v, l.node(f, b, "bias_v")))
		extra++
	}
	if l.config.AddZeroAttn {
		k, v = f.Of(graph.AppendRow(k, nil)), f.Of(graph.AppendRow(v, nil))
		extra++
	}
	return k, v, extra
}

// relativeBias is the sum of ALiBi's bias and T5's, nil if there is neither.
func (l *Attention) relativeBias(f *expr.Formula, b *Build, in AttentionInput, T, S int) *G.Node {
	c := l.config
	if f.Err() != nil || !c.ALiBi && c.RelativeBias == nil {
		return nil
	}
	var offset int
	var err error
	if in.Cache != nil { // distances from −(T−1) on
		S = in.Cache.Config().Capacity
		if r := c.RelativeBias; r != nil {
			S = max(S, r.MaxDistance+1) // the last entry is that of all greater distances
		}
		offset = S - T
	} else if offset, err = l.offset(T, S); err != nil {
		return f.Of(nil, err)
	}
	var alibi, t5 *G.Node
	if c.ALiBi {
		alibi = f.Of(graph.ALiBi(b.graph, b.params.Dtype(), graph.ALiBiConfig{Heads: c.NumHeads, T: T, S: S, Offset: offset}))
	}
	if r := c.RelativeBias; r != nil {
		t5 = f.Of(graph.T5RelativeBias(l.node(f, b, relativeBiasName), graph.T5Config{
			T: T, S: S, Offset: offset, MaxDistance: r.MaxDistance, Unidirectional: r.Unidirectional}))
	}
	switch {
	case alibi == nil:
		return t5
	case t5 == nil:
		return alibi
	}
	return f.Of(graph.Add(t5, alibi))
}
