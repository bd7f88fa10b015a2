package layers

import (
	"cmp"
	"fmt"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// RelativeBiasConfig sizes the learned bias of T5.
type RelativeBiasConfig struct {
	// Buckets of distances: an even number of at least 4, or any number of at least 2 if Unidirectional; 0 means 32.
	Buckets     int `json:"buckets,omitempty"`
	MaxDistance int `json:"max_distance,omitempty"` // larger distances share a bucket; 0 means 128
	// Unidirectional is the decoder's form, in which all later keys share the bucket of the
	// query's own position.
	Unidirectional bool `json:"unidirectional,omitempty"`
}

// positions tell the attention where queries and keys are: RoPE, ALiBi and T5's buckets.
type positions struct{ buckets Param }

func newPositions(m *maker, c AttentionConfig) (p positions) {
	if r := c.RelativeBias; r != nil {
		p.buckets = m.param("relative_attention_bias.weight", Normal(0, 0.02), r.Buckets, c.NumHeads)
	}
	return p
}

// validatePositions checks RoPE, Align and the sizes of T5's bias.
func (c AttentionConfig) validatePositions() error {
	r := c.resolved()
	if r.RoPE != nil {
		if n := r.RoPE.Heads; n != 0 {
			return config.Errorf(c, "RoPE.Heads", "got %d, want 0: they are %s", n, config.Field("NumHeads"))
		}
		_, _, width := r.softmaxes()
		if err := r.RoPE.Validate(width); err != nil {
			return config.In(c, "RoPE", err)
		}
	}
	if _, err := c.Align.MarshalText(); err != nil {
		return config.In(c, "Align", err)
	}
	b := r.RelativeBias
	if b == nil {
		return nil
	}
	side := b.Buckets // for the keys before a query; half of them hold one distance each
	if !b.Unidirectional {
		side /= 2
	}
	if side < 2 || !b.Unidirectional && b.Buckets%2 != 0 {
		return config.Errorf(c, "RelativeBias.Buckets", "got %d, want an even number from 4 on, or if %s any from 2 on",
			b.Buckets, config.Field("RelativeBias.Unidirectional"))
	}
	if b.MaxDistance <= side/2 {
		return config.Errorf(c, "RelativeBias.MaxDistance", "got %d, want more than the %d distances that have a bucket each",
			b.MaxDistance, side/2)
	}
	return config.AtMost(c, maxElements, "RelativeBias.MaxDistance")
}

// rotate rotates queries and keys by their positions.
func (p positions) rotate(s *step, q, k *G.Node) (*G.Node, *G.Node) {
	if s.config.RoPE == nil {
		return q, k
	}
	positions := s.in.Positions
	if positions == nil {
		n, err := s.offset()
		name := G.WithName(fmt.Sprintf("first position %d", n))
		positions = s.Of(G.NewScalar(s.b.graph, tensor.Int64, name, G.WithValue(int64(n))), err)
	}
	c := *s.config.RoPE
	heads, keyHeads, _ := s.config.softmaxes()
	c.Heads = heads
	q = s.Of(graph.RoPE(q, positions, c))
	c.Heads = keyHeads
	return q, s.Of(graph.RoPE(k, s.in.KeyPositions, c))
}

// bias returns the sum of ALiBi's bias and T5's, or nil if there is neither.
func (p positions) bias(s *step) *G.Node {
	c, r := s.config, s.config.RelativeBias
	if !c.ALiBi && r == nil {
		return nil
	}
	T, S, offset := length(s.in.Query), length(s.in.Key), 0
	if s.in.Cache != nil { // distances from −(T−1) on
		S = s.in.keys().Config().Capacity
		if r != nil {
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
	if r != nil {
		t5 = s.Of(graph.T5RelativeBias(s.node(p.buckets), graph.T5Config{
			T: T, S: S, Offset: offset, MaxDistance: r.MaxDistance, Unidirectional: r.Unidirectional}))
	}
	if alibi != nil && t5 != nil {
		return s.Of(graph.Add(t5, alibi))
	}
	return cmp.Or(alibi, t5)
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
