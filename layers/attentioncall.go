package layers

import (
	"path"
	"slices"

	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

// Observe makes the attentions whose paths match one of the patterns compute statistics of their weights in the op that
// computes their output; AttentionCall.Stats then returns them at no further cost. Call Observe before the attentions
// are built, in Train and Eval graphs alike. The path of a layer is that of its scope, such as "transformer.h.0.attn";
// patterns are those of path.Match, in which * matches any characters, such as "*.attn".
//
// Outputs and gradients keep their bits. Sparse attention then reads all keys, so its outputs and gradients are equal
// up to rounding.
func (b *Build) Observe(patterns ...string) { b.change("observe", change{observed: true}, patterns) }

// Observes reports whether the layer at a path is observed.
func (b *Build) Observes(layer string) bool {
	return slices.ContainsFunc(b.changesOf(layer), func(c change) bool { return c.observed })
}

// Compose makes the attentions whose paths match one of the patterns compute their output with one op per step, as
// AttentionCall.Weights computes the weights, so that the graph shows how attention works. The output is equal up to
// rounding, and takes memory of size T·S. Call Compose before the attentions are built. Composed attentions are not
// observed, and calls with a cache are not composed. Patterns are as in Observe.
func (b *Build) Compose(patterns ...string) { b.change("compose", change{composed: true}, patterns) }

// Composes reports whether the layer at a path is composed.
func (b *Build) Composes(layer string) bool {
	return slices.ContainsFunc(b.changesOf(layer), func(c change) bool { return c.composed })
}

// Calls returns the calls of the attentions whose paths match a pattern of path.Match, in
// the order they were built.
func (b *Build) Calls(pattern string) []*AttentionCall {
	var calls []*AttentionCall
	for _, c := range b.calls {
		if ok, _ := path.Match(pattern, c.Path); ok && c.attended {
			calls = append(calls, c)
		}
	}
	return calls
}

// AttentionCall is one call of an Attention in a graph.
type AttentionCall struct {
	Path  string         // of the layer
	Input AttentionInput // with default inputs in place of nil

	layer    *Attention
	build    *Build
	dropouts []graph.DropoutConfig // in order of use
	attended bool                  // whether Attend was called, not only Weights
	weights  *G.Node
	stats    *graph.AttentionStats
}

// AttentionOperands are the nodes from which an attention's scores and output are computed, with heads side by side.
// For differential attention, both softmaxes of a head count as heads. graph.Attention and graph.FusedAttention compute
// the heads' outputs from them.
type AttentionOperands struct {
	ProjectedQuery *G.Node // (…, T, H·D), before QKNorm and RoPE
	ProjectedKey   *G.Node // (…, S, K·D)

	Query *G.Node // (…, T, H·D), normalised and rotated
	Key   *G.Node // (…, S+extra, K·D), normalised and rotated, with the keys that AddBiasKV and AddZeroAttn add
	Value *G.Node // (…, S+extra, K·Dv)

	// Additive is v (1, A) of additive attention, whose scores are v·tanh(Query + Key) with Query (…, T, A) and Key
	// (…, S, A); nil for dot products.
	Additive *G.Node

	Config graph.AttentionConfig // without dropout
}

// Weights returns the attention weights (…, H, T, S) of the call, after dropout in a Train graph. The first call of
// Weights composes them of one op per step, from the same queries and keys and with the same dropout. They take memory
// of size T·S, which Stats do not. The weights of differential attention may be negative.
func (c *AttentionCall) Weights() (*G.Node, error) {
	if c.weights == nil {
		s, err := c.compute("weights", composed, (*step).context)
		if err != nil {
			return nil, err
		}
		c.weights = s.weights
	}
	return c.weights, nil
}

// Stats returns statistics of the call's weights before dropout, in memory that grows with T alone; each has an axis H.
// If the layer is observed, its fused op computes the statistics; otherwise the first call of Stats computes them, for
// about the cost of another forward pass. A differential attention has statistics of its 2·H softmaxes; 2h and 2h + 1
// belong to head h. The difference of their weights may be negative and has no entropy.
func (c *AttentionCall) Stats() (*graph.AttentionStats, error) {
	if c.stats == nil {
		s, err := c.compute("stats", observed, (*step).context)
		if err != nil {
			return nil, err
		}
		c.stats = s.stats
	}
	return c.stats, nil
}

// Operands returns the operands of the call. Nodes that the graph already has, such as the projections, are not
// computed twice.
func (c *AttentionCall) Operands() (o AttentionOperands, err error) {
	_, err = c.compute("operands", fused, func(s *step) *G.Node {
		o = s.operands()
		return o.Query
	})
	if err != nil {
		return AttentionOperands{}, err
	}
	return o, nil
}

// operands builds the operands of a step. For sparse attention the mask includes the choice of blocks.
func (s *step) operands() (o AttentionOperands) {
	q, k, v := s.projection.project(s)
	o.ProjectedQuery, o.ProjectedKey = q, k
	q, k, v = s.positioned(q, k, v)
	o.Query, o.Key, o.Value, o.Config = q, k, s.values(v), s.attention()
	o.Config.Dropout = graph.DropoutConfig{}
	if o.Config.Sparse != nil && s.Err() == nil {
		m, err := graph.SparseMask(o.Query, o.Key, o.Config)
		s.Of(o.Query, err)
		o.Config.Mask, o.Config.Sparse = m, nil
	}
	return o
}

// compute builds a part of the call, which errors call what, in a separate step.
func (c *AttentionCall) compute(what string, how computation, build func(s *step) *G.Node) (*step, error) {
	if c.Input.Cache != nil {
		return nil, errorf(c.layer.name, "%s: got a cache, want none: it never holds them", what)
	}
	s := newStep(c, how)
	_, err := s.result(build(s))
	return s, err
}

// newCall adds a call.
func (b *Build) newCall(l *Attention, in AttentionInput) *AttentionCall {
	c := &AttentionCall{Path: l.scope.path, Input: in, layer: l, build: b}
	b.calls = append(b.calls, c)
	return c
}

// callOf returns the last call of a layer with an input, or a new one.
func (b *Build) callOf(l *Attention, in AttentionInput) *AttentionCall {
	for i := len(b.calls) - 1; i >= 0; i-- {
		if c := b.calls[i]; c.layer == l && c.Input.equal(in) {
			return c
		}
	}
	return b.newCall(l, in)
}

// pendingCall returns the call that Weights has made for an input, or a new one.
func (b *Build) pendingCall(l *Attention, in AttentionInput) *AttentionCall {
	if c := b.callOf(l, in); !c.attended {
		return c
	}
	return b.newCall(l, in)
}

// equal reports whether two inputs consist of the same nodes.
func (in AttentionInput) equal(other AttentionInput) bool {
	masks := mask.Equal(in.Mask, other.Mask)
	in.Mask, other.Mask = nil, nil
	return masks && in == other
}
