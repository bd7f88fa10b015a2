package layers

import (
	"fmt"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// MultiHeadAttentionConfig sizes a MultiHeadAttention.
type MultiHeadAttentionConfig struct {
	In, Out        int       // widths of tokens and of context vectors
	NumHeads       int       // a divisor of Out; each head is Out/NumHeads wide
	NumKVHeads     int       // key/value heads, a divisor of NumHeads; 0 means NumHeads, fewer is grouped-query attention
	ContextLength  int       // the longest sequence allowed; 0 means any
	Dropout        float64   // of the attention weights, in Train graphs; 0 means none
	ContextDropout float64   // of the context vectors, before the output projection; 0 means none
	QKVBias        bool      // a bias in the three projections; the output projection always has one
	Mask           mask.Mask // which tokens a token sees; nil means mask.Causal{}
	Renormalize    bool      // hide by zeroing weights and dividing by what is left, instead of −∞ before the softmax
}

// Validate says what is wrong with the sizes and probabilities.
func (c MultiHeadAttentionConfig) Validate() error {
	if err := c.head(c.Out).validate("MultiHeadAttention"); err != nil {
		return err
	}
	if err := atLeastOne("MultiHeadAttention", size{"NumHeads", c.NumHeads}); err != nil {
		return err
	}
	if c.Out%c.NumHeads != 0 {
		return errorf("MultiHeadAttention", "NumHeads: got %d, want a divisor of Out=%d", c.NumHeads, c.Out)
	}
	if k := c.NumKVHeads; k < 0 || k > 0 && c.NumHeads%k != 0 {
		return errorf("MultiHeadAttention", "NumKVHeads: got %d, want 0 or a divisor of NumHeads=%d", k, c.NumHeads)
	}
	return nil
}

// head is the config of one causal head of a width.
func (c MultiHeadAttentionConfig) head(out int) CausalAttentionConfig {
	return CausalAttentionConfig{In: c.In, Out: out, ContextLength: c.ContextLength,
		Dropout: c.Dropout, ContextDropout: c.ContextDropout, QKVBias: c.QKVBias, Mask: c.Mask, Renormalize: c.Renormalize}
}

// MultiHeadAttention is causal attention by several heads at once: each of the
// three projections is one matrix whose result is split into heads, and out_proj
// mixes what the heads found.
type MultiHeadAttention struct{ self selfAttention }

// NewMultiHeadAttention makes the parameters W_query.weight, W_key.weight,
// W_value.weight (Out, In), with QKVBias their .bias (Out), and out_proj.weight
// (Out, Out) and out_proj.bias (Out). With fewer key/value heads than heads, W_key and
// W_value are narrower: NumKVHeads heads wide.
func NewMultiHeadAttention(s Scope, c MultiHeadAttentionConfig) (*MultiHeadAttention, error) {
	if err := s.locate(c.Validate()); err != nil {
		return nil, err
	}
	self, err := newSelfAttention(s, "MultiHeadAttention", c.attention(), form{}, c.ContextLength)
	return &MultiHeadAttention{self}, err
}

// attention is the config of the Attention that does the work.
func (c MultiHeadAttentionConfig) attention() AttentionConfig {
	a := c.head(c.Out).attention()
	a.NumHeads, a.NumKVHeads, a.OutBias = c.NumHeads, c.NumKVHeads, true
	return a
}

// Forward maps x (…, T, In) to (…, T, Out).
func (l *MultiHeadAttention) Forward(b *Build, x *G.Node) (*G.Node, error) {
	return l.self.Forward(b, x)
}

// ForwardWithWeights also returns the weights (…, H, T, T).
func (l *MultiHeadAttention) ForwardWithWeights(b *Build, x *G.Node) (out, weights *G.Node, err error) {
	return l.self.ForwardWithWeights(b, x)
}

// Attention is the layer that does the work, over the same parameters: it knows their
// states in PyTorch's layouts, and no bound of the length.
func (l *MultiHeadAttention) Attention() *Attention { return l.self.Attention }

// MultiHeadAttentionWrapperConfig sizes a MultiHeadAttentionWrapper.
type MultiHeadAttentionWrapperConfig struct {
	Head     CausalAttentionConfig // of each head; Head.Out is one head's width
	NumHeads int
}

// Validate says what is wrong with the sizes and probabilities.
func (c MultiHeadAttentionWrapperConfig) Validate() error {
	if err := c.Head.validate("MultiHeadAttentionWrapper"); err != nil {
		return err
	}
	if err := atLeastOne("MultiHeadAttentionWrapper", size{"NumHeads", c.NumHeads}); err != nil {
		return err
	}
	if c.NumHeads > maxElements/c.Head.Out {
		return errorf("MultiHeadAttentionWrapper", "NumHeads: got %d of width %d, want at most %d elements in all",
			c.NumHeads, c.Head.Out, maxElements)
	}
	return nil
}

// MultiHeadAttentionWrapper stacks causal heads side by side and joins their
// context vectors: what MultiHeadAttention computes, head by head, without an
// output projection.
type MultiHeadAttentionWrapper struct{ heads []*CausalAttention }

// NewMultiHeadAttentionWrapper makes the parameters of each head under heads.0,
// heads.1, …
func NewMultiHeadAttentionWrapper(s Scope, c MultiHeadAttentionWrapperConfig) (*MultiHeadAttentionWrapper, error) {
	if err := s.locate(c.Validate()); err != nil {
		return nil, err
	}
	l := new(MultiHeadAttentionWrapper)
	for i := range c.NumHeads {
		head, err := NewCausalAttention(s.Sub(fmt.Sprintf("heads.%d", i)), c.Head)
		if err != nil {
			return nil, err
		}
		l.heads = append(l.heads, head)
	}
	return l, nil
}

// Forward maps x (…, T, In) to (…, T, NumHeads·Out).
func (l *MultiHeadAttentionWrapper) Forward(b *Build, x *G.Node) (*G.Node, error) {
	var f expr.Formula
	outs := make(G.Nodes, len(l.heads))
	for i, head := range l.heads {
		outs[i] = f.Of(head.Forward(b, x))
	}
	out := f.Of(graph.Concat(outs...))
	return f.Result(out)
}

// ForwardWithWeights also returns the weights (…, H, T, T).
func (l *MultiHeadAttentionWrapper) ForwardWithWeights(b *Build, x *G.Node) (out, weights *G.Node, err error) {
	var f expr.Formula
	outs, ws := make(G.Nodes, len(l.heads)), make(G.Nodes, len(l.heads))
	for i, head := range l.heads {
		outs[i], ws[i] = f.Of2(head.ForwardWithWeights(b, x))
	}
	out = f.Of(graph.Concat(outs...))
	// Side by side (…, T, H·T) the heads' weights are laid out as split heads are.
	weights = f.Of(graph.SplitHeads(f.Of(graph.Concat(ws...)), len(l.heads)))
	return f.Result2(out, weights)
}
