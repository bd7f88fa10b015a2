package layers

import (
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

// CausalAttentionConfig sizes a CausalAttention.
type CausalAttentionConfig struct {
	In, Out        int
	ContextLength  int       // the longest sequence allowed; 0 means any
	Dropout        float64   // of the attention weights, in Train graphs; 0 means none
	ContextDropout float64   // of the context vectors, after the weights met the values; 0 means none
	QKVBias        bool      // a bias in the three projections
	Mask           mask.Mask // which tokens a token sees; nil means mask.Causal{}
	Renormalize    bool      // hide by zeroing weights and dividing by what is left, instead of −∞ before the softmax
}

// Validate says what is wrong with the sizes and probabilities.
func (c CausalAttentionConfig) Validate() error { return c.validate("CausalAttention") }

func (c CausalAttentionConfig) validate(layer string) error {
	if err := atLeastOne(layer, size{"In", c.In}, size{"Out", c.Out}); err != nil {
		return err
	}
	if c.ContextLength < 0 {
		return errorf(layer, "ContextLength: got %d, want at least 0", c.ContextLength)
	}
	if err := probability(layer, "Dropout", c.Dropout); err != nil {
		return err
	}
	return probability(layer, "ContextDropout", c.ContextDropout)
}

// attention is the config of the Attention that does the work.
func (c CausalAttentionConfig) attention() AttentionConfig {
	a := AttentionConfig{Width: c.In, Out: c.Out, NumHeads: 1, QKVBias: c.QKVBias, Mask: c.Mask, Renormalize: c.Renormalize,
		Dropout: c.Dropout, ContextDropout: c.ContextDropout}
	if a.Mask == nil {
		a.Mask = mask.Causal{}
	}
	return a
}

// CausalAttention is self-attention in which no token sees a later one.
type CausalAttention struct{ self selfAttention }

// NewCausalAttention makes the parameters W_query.weight, W_key.weight and
// W_value.weight (Out, In) and, with QKVBias, their .bias (Out).
func NewCausalAttention(s Scope, c CausalAttentionConfig) (*CausalAttention, error) {
	if err := s.locate(c.Validate()); err != nil {
		return nil, err
	}
	self, err := newSelfAttention(s, "CausalAttention", c.attention(), form{headless: true, bare: true}, c.ContextLength)
	return &CausalAttention{self}, err
}

// Forward maps x (…, T, In) to context vectors (…, T, Out).
func (l *CausalAttention) Forward(b *Build, x *G.Node) (*G.Node, error) { return l.self.Forward(b, x) }

// ForwardWithWeights also returns the weights (…, T, T).
func (l *CausalAttention) ForwardWithWeights(b *Build, x *G.Node) (out, weights *G.Node, err error) {
	return l.self.ForwardWithWeights(b, x)
}

// Attention is the layer that does the work, over the same parameters: it knows their
// states in PyTorch's layouts, and no bound of the length.
func (l *CausalAttention) Attention() *Attention { return l.self.Attention }
