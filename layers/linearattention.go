package layers

import (
	"path"

	"attention/graph"

	G "gorgonia.org/gorgonia"
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
		return part(&m, name, newLinear, LinearConfig{InFeatures: in, OutFeatures: out, Bias: bias})
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

// Attend maps in.Query ([B,] T, E) to ([B,] T, E). It also accepts Mask, a mask.KeyLengths for padded sequences, whose
// outputs after their ends are 0, and Cache, which NewCache makes, with Start. With both, the tokens of each sequence
// continue its earlier tokens, and a sequence with start 0 is a new text.
func (l *LinearAttention) Attend(b *Build, in AttentionInput) (*G.Node, error) {
	f := begin(b, l.name)
	s := linearStep{LinearAttention: l, formula: f, x: in.Query, start: in.Start}
	if !s.takes(in) {
		return f.result(nil)
	}
	s.project()
	f.where = l.path
	o, from := f.stage("heads", "what q reads of the state", s.attend()), "heads" // ([B,] T, H·Dv)
	if l.config.Norm {
		o, from = f.Of(graph.RMSNorm(o, f.node(l.normParam), l.config.NormEps)), "gated"
	}
	if l.gate != nil {
		o, from = f.Of(graph.SwiGLU(l.gate.apply(f, s.x), o)), "gated"
	}
	if from == "gated" {
		f.stage(from, "heads, brought to an even size and let through", o)
	}
	if in.Cache == nil && f.Err() == nil {
		b.linear = append(b.linear, &LinearCall{Path: l.path, Input: in, After: len(b.Calls("*")), layer: l, build: b})
	}
	return f.result(f.stage("attended", l.out.text(f, from), l.out.apply(f, o))) // ([B,] T, E)
}

// LinearCall is one call of a LinearAttention in a graph, without a cache.
type LinearCall struct {
	Path  string // of the layer
	Input AttentionInput
	After int // number of the Build's Calls before it

	layer *LinearAttention
	build *Build
}

// Weights returns the weights (…, H, T, T) that the call implies, before the norm; see LinearOperands.Weights.
func (c *LinearCall) Weights() (*G.Node, error) {
	s, err := c.projected()
	if err != nil {
		return nil, err
	}
	return s.result(s.Of(s.LinearOperands.Weights()))
}

// Operands returns the operands of the call. They are in the graph already, and not computed twice.
func (c *LinearCall) Operands() (LinearOperands, error) {
	s, err := c.projected()
	if err != nil {
		return LinearOperands{}, err
	}
	return s.LinearOperands, nil
}

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

// projected returns the step of the call with its operands.
func (c *LinearCall) projected() (*linearStep, error) {
	s := &linearStep{LinearAttention: c.layer, formula: begin(c.build, c.layer.name), x: c.Input.Query}
	if s.takes(c.Input) {
		s.project()
	}
	if s.Err() != nil {
		return nil, s.failure()
	}
	return s, nil
}
