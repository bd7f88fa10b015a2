package layers

import (
	"fmt"

	"attention/graph"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// CausalAttentionConfig sizes a CausalAttention.
type CausalAttentionConfig struct {
	In, Out        int
	ContextLength  int        // the longest sequence allowed; 0 means any
	Dropout        float64    // of the attention weights, in Train graphs; 0 means none
	ContextDropout float64    // of the context vectors, after the weights met the values; 0 means none
	QKVBias        bool       // a bias in the three projections
	Mask           graph.Mask // which tokens a token sees; nil means graph.Causal{}
}

// Validate says what is wrong with the sizes and probabilities.
func (c CausalAttentionConfig) Validate() error { return c.validate("CausalAttention") }

func (c CausalAttentionConfig) validate(layer string) error {
	if err := atLeastOne(layer, size{"In", c.In}, size{"Out", c.Out}); err != nil {
		return err
	}
	if c.ContextLength < 0 {
		return fmt.Errorf("layers: %s: ContextLength: got %d, want at least 0", layer, c.ContextLength)
	}
	if err := probability(layer, "Dropout", c.Dropout); err != nil {
		return err
	}
	return probability(layer, "ContextDropout", c.ContextDropout)
}

// causalUnless is the mask of a layer that is causal unless told otherwise.
func causalUnless(m graph.Mask) graph.Mask {
	if m == nil {
		return graph.Causal{}
	}
	return m
}

// CausalAttention is self-attention in which no token sees a later one.
type CausalAttention struct {
	config CausalAttentionConfig
	qkv    projections
}

// NewCausalAttention makes the parameters W_query.weight, W_key.weight and
// W_value.weight (Out, In) and, with QKVBias, their .bias (Out).
func NewCausalAttention(s Scope, c CausalAttentionConfig) (*CausalAttention, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	qkv, err := newProjections(s, LinearConfig{In: c.In, Out: c.Out, Bias: c.QKVBias})
	if err != nil {
		return nil, err
	}
	return &CausalAttention{config: c, qkv: qkv}, nil
}

// Forward maps x (…, T, In) to context vectors (…, T, Out).
func (l *CausalAttention) Forward(b *Build, x *G.Node) (*G.Node, error) {
	return withoutWeights(l.forward(b, x, fused))
}

// ForwardWithWeights also returns the weights (…, T, T).
func (l *CausalAttention) ForwardWithWeights(b *Build, x *G.Node) (out, weights *G.Node, err error) {
	return l.forward(b, x, graph.Attention)
}

func (l *CausalAttention) forward(b *Build, x *G.Node, attend attention) (out, weights *G.Node, err error) {
	c := l.config
	if err := checkSequence("CausalAttention", "x", b, x, c.In, c.ContextLength); err != nil {
		return nil, nil, err
	}
	var f expr.Formula[G.Node]
	q, k, v := l.qkv.forward(&f, b, x)
	out, weights = f.Of2(attend(q, k, v, graph.AttentionConfig{Mask: causalUnless(c.Mask), Dropout: b.Drop(c.Dropout)}))
	out = f.Of(graph.Dropout(out, b.Drop(c.ContextDropout)))
	return out, weights, f.Err()
}
