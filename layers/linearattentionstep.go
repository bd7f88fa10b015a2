package layers

import (
	"math"
	"slices"

	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

// linearStep builds the graph of one call.
type linearStep struct {
	*LinearAttention
	*formula
	LinearOperands
	x, start, lengths *G.Node
	cache             *LinearCache // nil for none
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
	for _, c := range s.b.changesOf(s.path) {
		if c.mask != nil || c.heads != nil {
			return s.fail(errorf(name, "change: got a mask or factors of heads from the build, want none"))
		}
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
	return true
}

// project sets the operands.
func (s *linearStep) project() {
	l, c := s.LinearAttention, s.LinearAttention.config
	s.Query = s.features(s.convolve(0, l.query.apply(s.formula, s.x)), c.NumHeads) // ([B,] T, H·D)
	s.Key = s.features(s.convolve(1, l.key.apply(s.formula, s.x)), c.NumKVHeads)   // ([B,] T, K·D)
	s.Value = s.convolve(2, l.value.apply(s.formula, s.x))                         // ([B,] T, K·Dv)
	s.Normalize = c.Normalize
	s.Config = graph.LinearAttentionConfig{Heads: c.NumHeads, KVHeads: c.NumKVHeads, Scale: c.Scale, Lengths: s.lengths,
		Decay: s.decays(), Precision: s.b.precision}
	if l.beta != nil {
		s.Config.Beta = s.Of(graph.Sigmoid(l.beta.apply(s.formula, s.x))) // ([B,] T, K)
	}
}

// convolve is the convolution of queries, keys or values, and SiLU.
func (s *linearStep) convolve(i int, x *G.Node) *G.Node {
	weight := s.optional(s.convs[i])
	switch {
	case weight == nil:
		return x
	case s.cache != nil:
		x = s.Of(graph.CachedCausalConv(x, weight, nil, s.start, s.lengths, s.cache.convs[i]))
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
	if s.cache == nil {
		return s.Of(s.output(s.Value, s.LinearOperands.read))
	}
	return s.Of(s.output(s.Value, func(v *G.Node, sums bool) (*G.Node, error) {
		state := s.cache.state
		if sums {
			state = s.cache.sum
		}
		return graph.CachedLinearAttention(s.Query, s.Key, v, s.start, state, s.Config)
	}))
}
