package layers

import (
	"errors"
	"path"
	"reflect"

	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// Observe makes the attentions whose paths match one of the patterns compute their output
// from weights that Calls then returns at no cost. It is called before they are built. A
// path is that of the layer's scope, as in "transformer.h.0.attn"; patterns are those of
// path.Match, in which * matches any characters, as in "*.attn".
//
// An observed attention is composed of one op for each step. Its output differs from the
// fused one's by rounding only.
func (b *Build) Observe(patterns ...string) {
	if b.made() != nil {
		return
	}
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			b.Of(nil, errorf("build", "observe: got %q, want a pattern of path.Match", p))
		}
	}
	b.observed = append(b.observed, patterns...)
}

// Observes reports whether the layer at a path is observed.
func (b *Build) Observes(layer string) bool {
	if b == nil {
		return false
	}
	for _, pattern := range b.observed {
		if ok, _ := path.Match(pattern, layer); ok {
			return true
		}
	}
	return false
}

// Calls returns the calls of the attentions whose paths match a pattern of path.Match, in
// the order they were built.
func (b *Build) Calls(pattern string) []*AttentionCall {
	if b == nil {
		return nil
	}
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
	Input AttentionInput // with nil replaced by its default

	layer    *Attention
	build    *Build
	dropouts []graph.DropoutConfig // in order of use
	attended bool                  // Attend was called, not only Weights
	weights  *G.Node
}

// Weights returns the attention weights (…, H, T, S) of the call, after dropout in a Train
// graph. If the layer is not observed they are composed now, from the same queries and
// keys and with the same dropout.
func (c *AttentionCall) Weights() (*G.Node, error) {
	if c == nil || c.build == nil {
		return nil, errors.New("layers: attention call: got nil or its zero value, want one of Build.Calls")
	}
	if c.Input.Cache != nil {
		return nil, errorf(c.layer.name, "weights: got a cache, want none: it never holds them")
	}
	if c.weights == nil {
		s := newStep(c, true)
		s.context()
		weights, err := s.result(s.weights)
		if err != nil {
			return nil, err
		}
		c.weights = weights
	}
	return c.weights, nil
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

// equal reports whether two inputs are made of the same nodes.
func (in AttentionInput) equal(other AttentionInput) bool {
	masks := reflect.DeepEqual(in.Mask, other.Mask)
	in.Mask, other.Mask = nil, nil
	return masks && in == other
}
