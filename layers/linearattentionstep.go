package layers

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/dense"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// linearStep builds the graph of one call.
type linearStep struct {
	*LinearAttention
	*formula
	LinearOperands
	x, start, lengths *G.Node
	cache             *linearCache // nil for none
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
	if s.cache, ok = in.Cache.(*linearCache); !ok || s.cache == nil {
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
		x := l.decay.apply(s.formula, l.lowRank.apply(s.formula, s.x)) // ([B,] T, K·D)
		return s.Of(graph.Scale(s.Of(graph.LogSigmoid(x)), 1.0/16))
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

// LinearOperands are the nodes that the outputs of a linear attention's heads are computed from, with heads side by
// side. graph.LinearAttention maps them to these outputs, before the norm and the gate.
type LinearOperands struct {
	Query *G.Node // ([B,] T, H·D), with features and norm
	Key   *G.Node // ([B,] T, K·D)
	Value *G.Node // ([B,] T, K·Dv)

	Normalize bool // whether the outputs are divided by what values of 1 would give
	Config    graph.LinearAttentionConfig
}

// output returns the result of the queries' reads of values ([B,] T, K·N), by read, which also reads the sums of the
// weights.
func (o LinearOperands) output(v *G.Node, read func(v *G.Node, sums bool) (*G.Node, error)) (*G.Node, error) {
	var f expr.Formula
	out := f.Of(read(v, false))
	if !o.Normalize || f.Err() != nil {
		return f.Result(out)
	}
	rows := o.Key.Shape()[:o.Key.Dims()-1]
	ones := o.constants("ones", slices.Repeat([]float64{1}, rows.TotalSize()*o.Config.KVHeads), o.Config.KVHeads)
	sums := f.Of(read(ones, true)) // ([B,] T, H)
	out = f.Of(graph.SplitHeads(out, o.Config.Heads))
	sums = f.Of(graph.SplitHeads(sums, o.Config.Heads))
	sums = f.Of(graph.Clamp(sums, 1e-30, math.Inf(1))) // that of a token beyond a length is 0
	return f.Result(f.Of(graph.MergeHeads(f.Of(graph.Div(out, sums)))))
}

// read returns the result of the queries' reads of values, without a cache.
func (o LinearOperands) read(v *G.Node, _ bool) (*G.Node, error) {
	out, _, err := graph.LinearAttention(o.Query, o.Key, v, o.Config)
	return out, err
}

// Weights returns the weights (…, H, T, T) that the outputs of the heads imply: out[t] is the sum over s of
// weights[t, s]·v[s], as if the recurrence were written out. Those of the delta rule, or without Features, may be below
// 0. They take T² of memory, which the layer itself does not.
func (o LinearOperands) Weights() (*G.Node, error) {
	if slices.Contains([]*G.Node{o.Query, o.Key, o.Value}, nil) {
		return nil, errorf("operands", "got nil, want those of LinearCall.Operands")
	}
	if _, err := o.read(o.Value, false); err != nil {
		return nil, inLayer("operands", err)
	}
	var f expr.Formula
	o.Config.Heads = cmp.Or(o.Config.Heads, 1)
	o.Config.KVHeads = cmp.Or(o.Config.KVHeads, o.Config.Heads)
	T, K, rows := length(o.Query), o.Config.KVHeads, o.Key.Shape()[:o.Key.Dims()-1].TotalSize()
	if !dense.Fits(rows, o.Config.Heads, T) {
		return nil, errorf("operands", "weights: got %d heads of %d tokens, want fewer elements", o.Config.Heads, T)
	}
	each := make([]float64, rows*K*T) // the values of a token: 1 in its own column
	for i := range rows * K {
		each[i*T+i/K%T] = 1
	}
	out := f.Of(o.output(o.constants(fmt.Sprintf("identity of %d", T), each, K*T), o.read)) // (…, T, H·T)
	return f.Result(f.Of(graph.SplitHeads(out, o.Config.Heads)))
}

// constants returns a node ([B,] T, width) with these values, in the operands' graph. Those of one name and shape have
// the same.
func (o LinearOperands) constants(name string, values []float64, width int) *G.Node {
	shape := append(o.Key.Shape()[:o.Key.Dims()-1].Clone(), width)
	return constantIn(o.Key.Graph(), name, dense.Of(o.Key.Dtype(), values, shape...))
}
