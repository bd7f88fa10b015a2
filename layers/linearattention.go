package layers

import (
	"fmt"
	"math"
	"path"
	"slices"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/dense"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// LinearAttention is causal self-attention by a state of a fixed size in place of a softmax over all keys: plain linear
// attention, retention, GLA, DeltaNet, Gated DeltaNet. See graph.LinearAttention for the formulas.
type LinearAttention struct {
	name   string // in errors
	path   string
	params *Params
	config LinearAttentionConfig // resolved

	query, key, value, out    *Linear
	beta, gate, decay         *Linear // nil for none
	lowRank                   *Linear // of the decays of channels, before decay
	convs                     [3]Param
	rate, timeBias, normParam Param
}

// decayRank is the width between the two products of the decays of channels.
const decayRank = 16

// NewLinearAttention makes the parameters, with the names of flash-linear-attention:
//
//	q_proj.weight (H·D, E), k_proj.weight (K·D, E), v_proj.weight (K·Dv, E)
//	b_proj.weight (K, E)                                                    with Delta
//	a_proj.weight (K, E), A_log (K), dt_bias (K)                            with HeadDecay
//	gk_proj.0.weight (16, E), gk_proj.1.weight (K·D, 16), gk_proj.1.bias    with ChannelDecay
//	q_conv1d.weight (H·D, 1, ConvSize), k_conv1d.weight, v_conv1d.weight    with ConvSize
//	g_proj.weight (H·Dv, E)                                                 with Gate
//	o_norm.weight (Dv)                                                      with Norm
//	o_proj.weight (E, H·Dv)
func NewLinearAttention(s Scope, c LinearAttentionConfig) (*LinearAttention, error) {
	return checked(s, "LinearAttention", c, newLinearAttention)
}

func newLinearAttention(s Scope, c LinearAttentionConfig) (*LinearAttention, error) {
	c = c.resolved()
	l := &LinearAttention{name: s.name("LinearAttention"), path: s.path, params: s.params, config: c}
	m := maker{scope: s}
	linear := func(wanted bool, name string, in, out int, bias bool) *Linear {
		if !wanted {
			return nil
		}
		return part(&m, name, newLinear, LinearConfig{In: in, Out: out, Bias: bias})
	}
	E, K := c.EmbedDim, c.NumKVHeads
	widths := c.widths()
	l.query = linear(true, "q_proj", E, widths[0], false)
	l.key = linear(true, "k_proj", E, widths[1], false)
	l.value = linear(true, "v_proj", E, widths[2], false)
	l.beta = linear(c.Delta, "b_proj", E, K, false)
	switch c.Decay {
	case HeadDecay:
		l.decay = linear(true, "a_proj", E, K, false)
		l.rate = m.param("A_log", logUniform(1e-4, 16), K)
		l.timeBias = m.param("dt_bias", softplusLogUniform(1e-3, 0.1), K)
	case ChannelDecay:
		l.lowRank = linear(true, "gk_proj.0", E, decayRank, false)
		l.decay = linear(true, "gk_proj.1", decayRank, K*c.HeadDim, true)
	}
	for i, name := range []string{"q_conv1d.weight", "k_conv1d.weight", "v_conv1d.weight"} {
		l.convs[i] = m.paramIf(c.ConvSize > 0, name, linearWeight(max(c.ConvSize, 1)), widths[i], 1, c.ConvSize)
	}
	l.gate = linear(c.Gate, "g_proj", E, c.NumHeads*c.ValueDim, false)
	l.normParam = m.paramIf(c.Norm, "o_norm.weight", Constant(1), c.ValueDim)
	l.out = linear(true, "o_proj", c.NumHeads*c.ValueDim, E, false)
	return done(&m, l)
}

// widths returns the widths of queries, keys and values of all heads.
func (c LinearAttentionConfig) widths() [3]int {
	return [3]int{c.NumHeads * c.HeadDim, c.NumKVHeads * c.HeadDim, c.NumKVHeads * c.ValueDim}
}

// Forward maps x ([B,] T, E) to ([B,] T, E).
func (l *LinearAttention) Forward(b *Build, x *G.Node) (*G.Node, error) {
	return l.Attend(b, AttentionInput{Query: x})
}

// Attend maps in.Query ([B,] T, E) to ([B,] T, E). Of the other fields it takes Mask, a mask.KeyLengths of sequences
// that are padded, whose outputs beyond are 0, and Cache, one of NewCache, with Start.
func (l *LinearAttention) Attend(b *Build, in AttentionInput) (*G.Node, error) {
	f := begin(b, l.name)
	s := linearStep{LinearAttention: l, formula: f, x: in.Query, start: in.Start}
	if !s.takes(in) {
		return f.result(nil)
	}
	s.project()
	o := s.attend() // ([B,] T, H·Dv)
	if l.config.Norm {
		o = f.Of(graph.RMSNorm(o, f.node(l.normParam), l.config.NormEps))
	}
	if l.gate != nil {
		o = f.Of(graph.SwiGLU(l.gate.apply(f, s.x), o))
	}
	if in.Cache == nil && f.Err() == nil {
		b.linear = append(b.linear, &LinearCall{Path: l.path, Input: in, layer: l, build: b})
	}
	return f.result(l.out.apply(f, o)) // ([B,] T, E)
}

// LinearCall is one call of a LinearAttention in a graph, without a cache.
type LinearCall struct {
	Path  string // of the layer
	Input AttentionInput

	layer *LinearAttention
	build *Build
}

// Weights returns the weights that the call implies; see LinearAttention.Weights.
func (c *LinearCall) Weights() (*G.Node, error) { return c.layer.Weights(c.build, c.Input) }

// LinearCalls returns the calls of the linear attentions whose paths match a pattern of path.Match, in the order they
// were built.
func (b *Build) LinearCalls(pattern string) (calls []*LinearCall) {
	for _, c := range b.linear {
		if ok, _ := path.Match(pattern, c.Path); ok {
			calls = append(calls, c)
		}
	}
	return calls
}

// Weights returns the weights (…, H, T, T) that the outputs of the heads imply, before the norm: o[t] is the sum over s
// of weights[t, s]·v[s]. Those of the delta rule, or without Features, may be below 0. They take T² of memory, which
// the layer itself does not.
func (l *LinearAttention) Weights(b *Build, in AttentionInput) (*G.Node, error) {
	f := begin(b, l.name)
	s := linearStep{LinearAttention: l, formula: f, x: in.Query}
	if in.Cache != nil {
		f.fail(errorf(l.name, "cache: got one, want none: a state does not know the tokens"))
	}
	if !s.takes(in) {
		return f.result(nil)
	}
	s.project()
	T, K := length(s.x), l.config.NumKVHeads
	rows := s.x.Shape().TotalSize() / l.config.EmbedDim
	each := make([]float64, rows*K*T) // the values of a token: 1 in its own column
	for i := range rows * K {
		each[i*T+i/K%T] = 1
	}
	s.v = s.constant(fmt.Sprintf("identity of %d", T), each, append(slices.Clone(s.x.Shape()[:s.x.Dims()-1]), K*T)...)
	return f.result(f.Of(graph.SplitHeads(s.attend(), l.config.NumHeads))) // (…, H, T, T)
}

// linearStep builds the graph of one call.
type linearStep struct {
	*LinearAttention
	*formula
	x, start, lengths *G.Node
	cache             *LinearCache // nil for none
	q, k, v           *G.Node
	options           graph.LinearAttentionConfig
}

// takes refuses an input that the layer cannot take.
func (s *linearStep) takes(in AttentionInput) bool {
	if !s.isSequence("query", s.x, s.LinearAttention.config.EmbedDim, 0) {
		return false
	}
	name := s.LinearAttention.name
	switch {
	case in.Key != nil && in.Key != in.Query || in.Value != nil && in.Value != in.Query:
		return s.fail(errorf(name, "key: got another sequence than the query, want nil"))
	case in.Bias != nil || in.Positions != nil || in.KeyPositions != nil:
		return s.fail(errorf(name, "bias, positions: got one of them, want none: there are no scores"))
	case (in.Cache == nil) != (in.Start == nil):
		return s.fail(errorf(name, "start: got a cache or a start alone, want both or none"))
	}
	switch m := in.Mask.(type) {
	case nil:
	case mask.KeyLengths:
		s.lengths = m.Lengths
	default:
		return s.fail(errorf(name, "mask: got %T, want mask.KeyLengths or nil: it is causal by itself", m))
	}
	if in.Cache == nil {
		return true
	}
	var ok bool
	if s.cache, ok = in.Cache.(*LinearCache); !ok || s.cache == nil {
		return s.fail(errorf(name, "cache: got %T, want a cache of its NewCache", in.Cache))
	}
	return s.lengths == nil || s.fail(errorf(name, "mask: got lengths with a cache, want sequences of one length"))
}

// project sets q, k and v and the options of the attention.
func (s *linearStep) project() {
	l, c := s.LinearAttention, s.LinearAttention.config
	s.q = s.features(s.convolve(0, l.query.apply(s.formula, s.x)), c.NumHeads) // ([B,] T, H·D)
	s.k = s.features(s.convolve(1, l.key.apply(s.formula, s.x)), c.NumKVHeads) // ([B,] T, K·D)
	s.v = s.convolve(2, l.value.apply(s.formula, s.x))                         // ([B,] T, K·Dv)
	s.options = graph.LinearAttentionConfig{Heads: c.NumHeads, KVHeads: c.NumKVHeads, Scale: c.Scale, Lengths: s.lengths,
		Decay: s.decays(), Precision: s.b.precision}
	if l.beta != nil {
		s.options.Beta = s.Of(graph.Sigmoid(l.beta.apply(s.formula, s.x))) // ([B,] T, K)
	}
}

// convolve is the convolution of queries, keys or values, and SiLU.
func (s *linearStep) convolve(i int, x *G.Node) *G.Node {
	weight := s.optional(s.convs[i])
	switch {
	case weight == nil:
		return x
	case s.cache != nil:
		x = s.Of(graph.CachedCausalConv(x, weight, nil, s.start, s.cache.convs[i]))
	default:
		x = s.Of(graph.CausalConv(x, weight, nil, nil))
	}
	return s.Of(graph.SiLU(x))
}

// features returns the features of queries or keys.
func (s *linearStep) features(x *G.Node, heads int) *G.Node {
	if s.LinearAttention.config.Features == ELUFeatures {
		x = s.Of(graph.ELUPlusOne(x))
	}
	if !s.LinearAttention.config.QKNorm {
		return x
	}
	return s.Of(graph.L2Norm(x, s.filled(1, s.LinearAttention.config.HeadDim), 1e-6))
}

// decays returns the logarithms of the decays.
func (s *linearStep) decays() *G.Node {
	l, K := s.LinearAttention, s.LinearAttention.config.NumKVHeads
	switch l.config.Decay {
	case HeadDecay:
		return s.Of(graph.DecayGate(l.decay.apply(s.formula, s.x), s.node(l.rate), s.node(l.timeBias))) // ([B,] T, K)
	case ChannelDecay:
		x, n := l.decay.apply(s.formula, l.lowRank.apply(s.formula, s.x)), K*l.config.HeadDim
		x = s.Of(graph.Scale(x, -1)) // ([B,] T, K·D)
		return s.Of(graph.DecayGate(x, s.filled(math.Log(1.0/16), n), s.filled(0, n)))
	case FixedDecay:
		rows := slices.Clone(s.x.Shape()[:s.x.Dims()-1])
		all := make([]float64, rows.TotalSize()*K)
		for i := range all {
			all[i] = math.Log1p(-math.Exp2(float64(-5 - i%K)))
		}
		return s.constant("decays", all, append(rows, K)...)
	}
	return nil
}

// attend is the attention itself.
func (s *linearStep) attend() *G.Node {
	o := s.read(s.v, func(c *LinearCache) *graph.StateCache { return c.state })
	if !s.LinearAttention.config.Normalize || s.Err() != nil {
		return o
	}
	H, K := s.LinearAttention.config.NumHeads, s.LinearAttention.config.NumKVHeads
	ones := append(slices.Clone(s.x.Shape()[:s.x.Dims()-1]), K)
	sum := s.read(s.filled(1, ones...), func(c *LinearCache) *graph.StateCache { return c.sum }) // ([B,] T, H)
	o, sum = s.Of(graph.SplitHeads(o, H)), s.Of(graph.SplitHeads(sum, H))                        // (…, H, T, Dv) and 1
	sum = s.Of(graph.Clamp(sum, 1e-30, math.Inf(1)))                                             // of tokens beyond a length
	return s.Of(graph.MergeHeads(s.Of(graph.Div(o, sum))))
}

// read returns what the queries read of these values.
func (s *linearStep) read(v *G.Node, state func(c *LinearCache) *graph.StateCache) *G.Node {
	if s.cache != nil {
		return s.Of(graph.CachedLinearAttention(s.q, s.k, v, s.start, state(s.cache), s.options))
	}
	o, _, err := graph.LinearAttention(s.q, s.k, v, s.options)
	return s.Of(o, err)
}

// filled returns a constant tensor of one number.
func (s *linearStep) filled(v float64, shape ...int) *G.Node {
	return s.constant(fmt.Sprint("all ", v), slices.Repeat([]float64{v}, tensor.Shape(shape).TotalSize()), shape...)
}

// constant returns a node with these values. Those of one name and shape have the same.
func (s *linearStep) constant(name string, values []float64, shape ...int) *G.Node {
	v := dense.Of(s.b.params.Dtype(), values, shape...)
	return G.NewTensor(s.b.graph, v.Dtype(), v.Dims(), G.WithShape(shape...), G.WithValue(v),
		G.WithName(fmt.Sprintf("linear attention %s %v", name, tensor.Shape(shape))))
}
