package layers

import (
	"attention/graph"
	"attention/graph/mask"
	"cmp"

	G "gorgonia.org/gorgonia"
)

// Attention is multi-head attention: self- and cross-attention, grouped heads, masks,
// biases and positions of every kind.
type Attention struct {
	name   string // in errors
	scope  Scope
	config AttentionConfig // resolved

	projection           projection
	out                  *Linear // nil with ContextOnly
	keyRow, valueRow     Param   // of the key and value that AddBiasKV adds
	queryGain, keyGain   Param
	lambdas              [4]Param // of a differential attention: q₁, k₁, q₂ and k₂
	headGain             Param
	sinks, gate, buckets Param
	forget, forgetBias   Param
}

// NewAttention makes the parameters of the layout, or of Latent, and then those of the options that the
// config sets: bias_k (1, 1, K·D) and bias_v (1, 1, K·Dv), q_norm.weight and k_norm.weight (D), with Differential
// (D/2), or with QKNormWhole (H·D) and (K·D), with Differential lambda_q1, lambda_k1, lambda_q2 and lambda_k2 (D/2) and
// subln.weight (Dv), sinks (H), gate_proj.weight (H·Dv, EmbedDim), relative_attention_bias.weight (Buckets, H),
// fgate_proj.weight (H, KDim) and fgate_proj.bias (H). Declare lists the parameters of a config.
func NewAttention(s Scope, c AttentionConfig) (*Attention, error) {
	return checked(s, "Attention", c, newAttention)
}

func newAttention(s Scope, c AttentionConfig) (*Attention, error) {
	c = c.resolved()
	l := &Attention{name: s.name("Attention"), scope: s, config: c}
	m := maker{scope: s}
	if c.Layout == Torch {
		l.out = newOutput(&m, c) // which nn.MultiheadAttention draws first
	}
	l.projection = newProjection(&m, c)
	K, V := c.keyWidth(), c.valueWidth()
	l.keyRow = m.paramIf(c.AddBiasKV, "bias_k", xavierNormal(K, K), 1, 1, K)
	l.valueRow = m.paramIf(c.AddBiasKV, "bias_v", xavierNormal(V, V), 1, 1, V)
	if c.Layout != Torch {
		l.out = newOutput(&m, c)
	}
	_, _, width := c.softmaxes()
	of := [2]int{width, width}
	if c.QKNormWhole {
		of = [2]int{c.queryWidth(), K}
	}
	l.queryGain = m.paramIf(c.QKNorm != "", "q_norm.weight", gainStart(c.QKNormOffset), of[0])
	l.keyGain = m.paramIf(c.QKNorm != "", "k_norm.weight", gainStart(c.QKNormOffset), of[1])
	if c.Differential != nil {
		l.makeDifferential(&m)
	}
	l.sinks = m.paramIf(c.Sinks, "sinks", Constant(0), c.NumHeads)
	if c.Gate {
		l.gate = m.weight("gate_proj.weight", linearWeight(c.EmbedDim), layouts[Book], c.contextWidth(), c.EmbedDim)
	}
	if r := c.RelativeBias; r != nil {
		l.buckets = m.param("relative_attention_bias.weight", Normal(0, 0.02), r.Buckets, c.NumHeads)
	}
	if c.Forget {
		l.forget = m.weight("fgate_proj.weight", linearWeight(c.KDim), layouts[Book], c.NumHeads, c.KDim)
		l.forgetBias = m.param("fgate_proj.bias", Constant(0), c.NumHeads)
	}
	if m.err == nil {
		l.addBuffers()
	}
	return done(&m, l)
}

// NewCache returns an empty cache of the layer's widths and type; c has the other settings.
func (l *Attention) NewCache(c graph.KVCacheConfig) (*graph.KVCache, error) {
	return graph.NewKVCache(l.scope.params.dt, l.config.cacheOf(c))
}

// cacheOf returns the config of a cache with the widths of a resolved c.
func (c AttentionConfig) cacheOf(k graph.KVCacheConfig) graph.KVCacheConfig {
	a := c.cached()
	_, keyHeads, _ := a.softmaxes() // both softmaxes of differential attention have their values
	k.KeyWidth, k.ValueWidth, k.ValuesInKeys, k.Gates = a.keyWidth(), keyHeads*a.ValueDim, c.Latent != nil, 0
	if c.Forget {
		k.Gates = c.NumHeads
	}
	return k
}

func (l *Attention) newCache(c graph.KVCacheConfig) (AttentionCache, error) {
	before, ok := mask.Reach(l.config.Mask)
	if ok && c.Windows && !c.Rolling && l.config.Sparse == nil && before+1 < c.Capacity {
		c.Rolling, c.Capacity, c.Room = true, before+1, min(c.Room, before+1)
	}
	return l.NewCache(c)
}

// Forward maps x (…, T, EmbedDim) to (…, T, OutDim): attention of a sequence to itself.
func (l *Attention) Forward(b *Build, x *G.Node) (*G.Node, error) {
	return l.Attend(b, AttentionInput{Query: x})
}

// Attend maps in.Query (…, T, EmbedDim) to (…, T, OutDim).
func (l *Attention) Attend(b *Build, in AttentionInput) (*G.Node, error) {
	in, err := l.complete(b, in)
	if err != nil {
		return nil, err
	}
	c := b.pendingCall(l, in)
	how := fused
	switch {
	case in.Cache != nil:
	case b.Composes(c.Path) || l.config.ScoreGraph != nil:
		how = composed
	case b.Observes(c.Path):
		how = observed
	}
	s := newStep(c, how)
	out, err := s.result(s.forward())
	if err != nil {
		return nil, err
	}
	c.attended, c.stats, c.weights = true, cmp.Or(s.stats, c.stats), cmp.Or(s.weights, c.weights)
	return out, nil
}

// Weights returns the attention weights (…, H, T, S) of an input, in a Train graph after
// dropout. If Attend was called with this input, they are the weights of that call. S counts
// the keys that AddBiasKV and AddZeroAttn add, too. graph.AverageHeads gives their mean.
func (l *Attention) Weights(b *Build, in AttentionInput) (*G.Node, error) {
	in, err := l.complete(b, in)
	if err != nil {
		return nil, err
	}
	return b.callOf(l, in).Weights()
}

// forward is the whole layer:
//
//	q, k, v = query·Wqᵀ, key·Wkᵀ, value·Wvᵀ   each with heads side by side
//	out     = attention(rope(norm(q)), rope(norm(k)), v)
//	out     = (out ⊙ sigmoid(query·Wgᵀ))·Woᵀ
func (s *step) forward() *G.Node {
	out := s.context() // (…, T, H·Dv)
	if s.config.Differential == nil {
		out = s.scaleHeads(out) // (…, T, H·Dv)
	}
	out = s.stage("heads", "weights·v of each head, side by side", out)
	out = s.gated(out)                         // (…, T, H·Dv)
	out = s.drop(out, s.config.ContextDropout) // (…, T, H·Dv)
	out = s.projectOut(out)                    // (…, T, OutDim)
	return s.drop(out, s.config.OutDropout)    // (…, T, OutDim)
}

// context returns the heads' outputs side by side. It sets the step's weights if it is
// composed, and the statistics if it is observed.
func (s *step) context() *G.Node {
	q, k, v := s.projection.project(s) // (…, T, H·D), (…, S, K·D), (…, S, K·Dv)
	q, k, v = s.positioned(q, k, v)    // (…, T, H·D), (…, S+extra, K·D), (…, S+extra, K·Dv)
	out := s.attend(q, k, s.values(v))
	s.weights = s.differences(s.weights)
	out = s.difference(out) // (…, T, H·Dv)
	if s.absorbed != nil {
		return s.absorbed.valuesOf(s, out)
	}
	return out
}

// positioned returns queries, keys and values as the attention itself takes them.
func (s *step) positioned(q, k, v *G.Node) (_, _, _ *G.Node) {
	q = s.normalize(q, s.queryGain) // (…, T, H·D)
	k = s.normalize(k, s.keyGain)   // (…, S, K·D)
	q, k = s.rotate(q, k)           // (…, T, H·D), (…, S, K·D)
	k = s.extend(k, s.keyRow)       // (…, S+extra, K·D)
	v = s.extend(v, s.valueRow)     // (…, S+extra, K·Dv)
	return q, k, v
}

// attend is the attention itself: with a cache; composed of one op for each step; or in
// one op, which never holds the weights but may return statistics of them.
func (s *step) attend(q, k, v *G.Node) (out *G.Node) {
	a, in := s.attention(), s.in
	switch {
	case in.Cache != nil:
		return s.Of(graph.CachedAttention(q, k, v, in.Start, in.keys(), a))
	case s.how == composed:
		out, s.weights = s.Of2(graph.Attention(q, k, v, a))
		return out
	case s.how == observed:
		return s.observe(q, k, v, a)
	case s.packed != nil:
		return s.Of(graph.FusedAttentionPacked(s.packed, s.config.projected(), a))
	}
	return s.Of(graph.FusedAttention(q, k, v, a))
}

// attention returns the config of the attention itself.
func (s *step) attention() graph.AttentionConfig {
	c := s.config
	heads, keyHeads, _ := c.softmaxes()
	return graph.AttentionConfig{
		Heads: heads, KVHeads: keyHeads, Scale: c.Scale, Softcap: c.Softcap, Score: s.scoreMod(),
		Mask: s.mask(), Sparse: c.Sparse, Bias: s.in.Bias, RelativeBias: s.relativeBias(), LogGates: s.logGates(),
		Sigmoid: c.Sigmoid, SigmoidBias: c.SigmoidBias, Sinks: s.optional(s.sinks), ExtraKeys: c.extraKeys(),
		Dropout:   s.site(c.Dropout),
		Precision: s.b.precision,
	}
}

// observe is attend that also sets the statistics of the step.
func (s *step) observe(q, k, v *G.Node, a graph.AttentionConfig) (out *G.Node) {
	var err error
	if s.packed != nil {
		out, s.stats, err = graph.FusedAttentionPackedStats(s.packed, s.config.projected(), a, s.ownKey())
	} else {
		out, s.stats, err = graph.FusedAttentionStats(q, k, v, a, s.ownKey())
	}
	return s.Of(out, err)
}
