package layers

import (
	"fmt"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A step builds the graph of one call of an attention.
type step struct {
	*Attention
	*formula
	config   AttentionConfig // of the call
	in       AttentionInput  // complete
	how      computation
	packed   *G.Node               // queries, keys and values side by side, if one product made them unchanged
	absorbed *latents              // whose values the output has yet to be made of, with a cache
	weights  *G.Node               // (…, H, T, S), if composed
	stats    *graph.AttentionStats // if observed
	call     *AttentionCall
	dropouts int // how many of the call's are used
}

// A computation is how an attention is computed.
type computation int

const (
	fused    computation = iota // in one op
	observed                    // in one op, with statistics
	composed                    // of one op for each step, so that there are weights
)

func newStep(c *AttentionCall, how computation) *step {
	s := &step{Attention: c.layer, formula: &formula{b: c.build, name: c.layer.name, where: c.Path},
		config: c.layer.config, in: c.Input, how: how, call: c}
	if s.in.Cache != nil {
		s.config = s.config.cached()
	}
	return s
}

// site returns the call's next dropout.
func (s *step) site(p float64) graph.DropoutConfig {
	n := s.dropouts
	s.dropouts++
	if n == len(s.call.dropouts) {
		s.call.dropouts = append(s.call.dropouts, s.b.Drop(p))
	}
	return s.call.dropouts[n]
}

// drop is dropout with probability p.
func (s *step) drop(x *G.Node, p float64) *G.Node { return s.Of(graph.Dropout(x, s.site(p))) }

// mask returns the masks of the config, the call and the build, joined.
func (s *step) mask() mask.Mask {
	joined := s.config.Mask
	join := func(m mask.Mask) {
		switch {
		case joined == nil:
			joined = m
		case m != nil:
			joined = mask.And(joined, m)
		}
	}
	join(s.in.Mask)
	for _, c := range s.b.changesOf(s.call.Path) {
		join(c.mask)
	}
	return joined
}

// normalize normalises queries or keys by runs of the gain's length: each head, or all side by side.
func (s *step) normalize(x *G.Node, gain Param) *G.Node {
	switch s.config.QKNorm {
	case RMSNorm:
		return s.Of(graph.RMSNorm(x, s.gain(gain, s.config.QKNormOffset), s.config.QKNormEps))
	case L2Norm:
		return s.Of(graph.L2Norm(x, s.gain(gain, s.config.QKNormOffset), s.config.QKNormEps))
	}
	return x
}

// rotate rotates queries and keys by their positions.
func (s *step) rotate(q, k *G.Node) (*G.Node, *G.Node) {
	if s.config.RoPE == nil {
		return q, k
	}
	positions := s.in.Positions
	if positions == nil {
		positions = s.Of(s.firstPosition())
	}
	c := *s.config.RoPE
	heads, keyHeads, _ := s.config.softmaxes()
	c.Heads = heads
	q = s.Of(graph.RoPE(q, positions, c))
	c.Heads = keyHeads
	return q, s.Of(graph.RoPE(k, s.in.KeyPositions, c))
}

// offset returns the position of the first query among the keys.
func (s *step) offset() (int, error) {
	n, err := s.config.Align.Offset(length(s.in.Query), length(s.in.Key))
	if err != nil {
		err = fmt.Errorf("%s, for the positions of queries: %w", config.Field("Align"), err)
	}
	return n, err
}

// ownKey returns the index of the first query's own key; 0 if neither Align nor the mask
// says which it is.
func (s *step) ownKey() int {
	T, S := length(s.in.Query), length(s.in.Key)
	align := s.config.Align
	if align == mask.Square && T != S {
		switch m := s.mask().(type) {
		case mask.Causal:
			align = m.Align
			if m.Offset > 0 && align != mask.LowerRight {
				return m.Offset // earlier keys, rather than later ones that are seen
			}
		case mask.SlidingWindow:
			align = m.Align
		}
	}
	n, err := align.Offset(T, S)
	if err != nil {
		return 0
	}
	return n
}

// firstPosition returns the position of the first query as a constant.
func (s *step) firstPosition() (*G.Node, error) {
	n, err := s.offset()
	if err != nil {
		return nil, err
	}
	name := G.WithName(fmt.Sprintf("first position %d", n))
	return G.NewScalar(s.b.graph, tensor.Int64, name, G.WithValue(int64(n))), nil
}

// extraKeys returns the number of keys that are appended to the sequence's.
func (c AttentionConfig) extraKeys() int {
	n := 0
	if c.AddBiasKV {
		n++
	}
	if c.AddZeroAttn {
		n++
	}
	return n
}

// extend appends a learned row and a row of zeros to keys or values, if the layer has them.
func (s *step) extend(x *G.Node, row Param) *G.Node {
	if s.config.AddBiasKV {
		x = s.Of(graph.AppendRow(x, s.optional(row)))
	}
	if s.config.AddZeroAttn {
		x = s.Of(graph.AppendRow(x, nil))
	}
	return x
}

// relativeBias returns the sum of ALiBi's bias and T5's, or nil if there is neither.
func (s *step) relativeBias() *G.Node {
	c := s.config
	if !c.ALiBi && c.RelativeBias == nil {
		return nil
	}
	T, S, offset := length(s.in.Query), length(s.in.Key), 0
	if s.in.Cache != nil { // distances from −(T−1) on
		S = s.in.keys().Config().Capacity
		if r := c.RelativeBias; r != nil {
			S = max(S, r.MaxDistance+1) // the last entry serves all greater distances
		}
		offset = S - T
	} else {
		var err error
		if offset, err = s.offset(); err != nil {
			return s.Of(nil, err)
		}
	}
	var alibi, t5 *G.Node
	if c.ALiBi {
		alibi = s.Of(graph.ALiBi(s.b.graph, s.b.params.Dtype(),
			graph.ALiBiConfig{Heads: c.NumHeads, T: T, S: S, Offset: offset}))
	}
	if r := c.RelativeBias; r != nil {
		t5 = s.Of(graph.T5RelativeBias(s.optional(s.buckets), graph.T5Config{
			T: T, S: S, Offset: offset, MaxDistance: r.MaxDistance, Unidirectional: r.Unidirectional}))
	}
	switch {
	case alibi == nil:
		return t5
	case t5 == nil:
		return alibi
	}
	return s.Of(graph.Add(t5, alibi))
}
