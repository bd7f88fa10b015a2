package layers

import (
	"cmp"

	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// Attention is multi-head attention: self- and cross-attention, grouped heads, masks,
// biases and positions of every kind.
type Attention struct {
	name   string // in errors
	scope  Scope
	config AttentionConfig // resolved

	projection   projection
	headNorm     headNorm
	positions    positions
	extraKeys    extraKeys
	sinks        Param
	forget       *Linear       // makes the gates of keys; nil if there are none
	differential *differential // nil if there is one softmax
	gate, out    *Linear       // of the heads' outputs; nil if there is none
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
		l.out = newOutput(&m, c) // nn.MultiheadAttention draws these first
	}
	l.projection = newProjection(&m, c)
	l.extraKeys = newExtraKeys(&m, c)
	if c.Layout != Torch {
		l.out = newOutput(&m, c)
	}
	l.headNorm = newHeadNorm(&m, c)
	l.differential = newDifferential(&m, c)
	l.sinks = m.paramIf(c.Sinks, "sinks", Constant(0), c.NumHeads)
	l.gate = newGate(&m, c)
	l.positions = newPositions(&m, c)
	l.forget = newForget(&m, c)
	if m.err == nil {
		l.addBuffers()
	}
	return done(&m, l)
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

// Weights returns the attention weights (…, H, T, S) for an input; in a Train graph they are the weights after dropout.
// If Attend was called with this input, they are the weights of that call. S counts the keys that AddBiasKV and
// AddZeroAttn add, too. graph.AverageHeads gives their mean.
func (l *Attention) Weights(b *Build, in AttentionInput) (*G.Node, error) {
	in, err := l.complete(b, in)
	if err != nil {
		return nil, err
	}
	return b.callOf(l, in).Weights()
}

// A step builds the graph for one call of an attention.
type step struct {
	*Attention
	*formula
	config   AttentionConfig // of the call
	in       AttentionInput  // complete
	how      computation
	packed   *G.Node               // unchanged queries, keys and values of one product, in one tensor
	absorbed *latents              // values from which the output has yet to be made, with a cache
	weights  *G.Node               // (…, H, T, S), if composed
	stats    *graph.AttentionStats // if observed
	call     *AttentionCall
	dropouts int // number of the call's dropouts that are used so far
}

// A computation is a way to compute an attention.
type computation int

const (
	fused    computation = iota // in one op
	observed                    // one op, with statistics
	composed                    // one op per step, so that weights exist
)

func newStep(c *AttentionCall, how computation) *step {
	s := &step{Attention: c.layer, formula: &formula{b: c.build, name: c.layer.name, where: c.Path},
		config: c.layer.config, in: c.Input, how: how, call: c}
	if s.in.Cache != nil {
		s.config = s.config.cached()
	}
	return s
}

// site returns the key's site of the call's next dropout.
func (s *step) site(p float64) graph.DropoutConfig {
	n := s.dropouts
	s.dropouts++
	if n == len(s.call.dropouts) {
		s.call.dropouts = append(s.call.dropouts, s.b.Drop(p))
	}
	return s.call.dropouts[n]
}

// drop applies dropout with probability p.
func (s *step) drop(x *G.Node, p float64) *G.Node { return s.Of(graph.Dropout(x, s.site(p))) }

// forward is the whole layer:
//
//	q, k, v = query·Wqᵀ, key·Wkᵀ, value·Wvᵀ   each with heads side by side
//	out     = attention(rope(norm(q)), rope(norm(k)), v)
//	out     = (out ⊙ sigmoid(query·Wgᵀ))·Woᵀ
func (s *step) forward() *G.Node {
	out := s.context() // (…, T, H·Dv)
	out = s.stage("heads", "weights·v of each head, side by side", out)
	out = s.gated(out)                         // (…, T, H·Dv)
	out = s.drop(out, s.config.ContextDropout) // (…, T, H·Dv)
	out = s.projectOut(out)                    // (…, T, OutDim)
	return s.drop(out, s.config.OutDropout)    // (…, T, OutDim)
}

// context returns the heads' outputs side by side. If composed, it sets the step's weights; if observed, the
// statistics. It sets the step's weights if it is composed, and the statistics if it is observed.
func (s *step) context() *G.Node {
	q, k, v := s.projection.project(s) // (…, T, H·D), (…, S, K·D), (…, S, K·Dv)
	q, k, v = s.positioned(q, k, v)    // (…, T, H·D), (…, S+extra, K·D), (…, S+extra, K·Dv)
	out := s.attend(q, k, s.values(v))
	s.weights = s.differences(s.weights)
	if s.absorbed != nil {
		out = s.absorbed.valuesOf(s, out)
	}
	return s.difference(s.scaleHeads(out)) // (…, T, H·Dv)
}

// positioned returns the queries, keys and values for the attention itself.
func (s *step) positioned(q, k, v *G.Node) (_, _, _ *G.Node) {
	q, k = s.headNorm.apply(s, q, k)   // (…, T, H·D), (…, S, K·D)
	q, k = s.positions.rotate(s, q, k) // (…, T, H·D), (…, S, K·D)
	k, v = s.extraKeys.apply(s, k, v)  // (…, S+extra, K·D), (…, S+extra, K·Dv)
	return q, k, v
}

// attend computes the attention itself: with a cache; composed of one op per step; or in one op, which never stores the
// weights but may return statistics of them.
func (s *step) attend(q, k, v *G.Node) (out *G.Node) {
	a, in := s.attention(), graph.FusedInputs{Query: q, Key: k, Value: v}
	switch {
	case s.in.Cache != nil:
		in.Start, in.Cache = s.in.Start, s.in.keys()
	case s.how == composed:
		out, s.weights = s.Of2(graph.Attention(q, k, v, a))
		return out
	case s.packed != nil:
		in = graph.FusedInputs{Packed: s.packed, Widths: s.config.projected()}
		fallthrough
	default:
		in.Stats, in.Offset = s.how == observed, s.ownKey()
	}
	r, err := graph.FusedAttention(in, a)
	s.stats = r.Stats
	return s.Of(r.Out, err)
}

// attention returns the config of the attention itself.
func (s *step) attention() graph.AttentionConfig {
	c := s.config
	heads, keyHeads, _ := c.softmaxes()
	return graph.AttentionConfig{
		Heads: heads, KVHeads: keyHeads, Scale: c.Scale, Softcap: c.Softcap, Score: s.scoreMod(),
		Mask: s.mask(), Sparse: c.Sparse, Bias: s.in.Bias, RelativeBias: s.positions.bias(s), LogGates: s.logGates(),
		Sigmoid: c.Sigmoid, SigmoidBias: c.SigmoidBias, Sinks: s.optional(s.sinks), ExtraKeys: c.extraKeys(),
		Dropout:   s.site(c.Dropout),
		Precision: s.b.precision,
	}
}
