package layers

import G "gorgonia.org/gorgonia"

// The chapter's variants, as VariantConfig.Layer names them.
const (
	Simple           = "simple"
	SelfV1           = "self_v1"
	SelfV2           = "self_v2"
	Causal           = "causal"
	MultiHeadWrapper = "multi_head_wrapper"
	MultiHead        = "multi_head"
	Additive         = "additive"
)

// Variants are the names of the chapter's variants, in its order.
func Variants() []string {
	return []string{Simple, SelfV1, SelfV2, Causal, MultiHeadWrapper, MultiHead, Additive}
}

// VariantConfig names one of the chapter's variants and its sizes. A variant
// ignores the fields it has no use for.
type VariantConfig struct {
	Layer         string  `json:"layer"`                    // one of Variants
	DIn           int     `json:"d_in,omitempty"`           // width of the tokens
	DOut          int     `json:"d_out,omitempty"`          // width of the context vectors; for multi_head_wrapper of one head's
	ContextLength int     `json:"context_length,omitempty"` // longest sequence of the causal variants; 0 means any
	NumHeads      int     `json:"num_heads,omitempty"`      // of multi_head and multi_head_wrapper
	QKVBias       bool    `json:"qkv_bias,omitempty"`       // of self_v2 and the causal variants
	Dropout       float64 `json:"dropout,omitempty"`        // of the causal variants' weights, in Train graphs
	DQuery        int     `json:"d_query,omitempty"`        // additive: width of the queries
	DKey          int     `json:"d_key,omitempty"`          // additive: width of the keys
	DAttn         int     `json:"d_attn,omitempty"`         // additive: width that both are projected to
}

// Causal says whether no token of the variant sees a later one.
func (c VariantConfig) Causal() bool {
	return c.Layer == Causal || c.Layer == MultiHeadWrapper || c.Layer == MultiHead
}

// Width is the width of the context vectors.
func (c VariantConfig) Width() int {
	switch c.Layer {
	case Simple:
		return c.DIn
	case MultiHeadWrapper:
		return c.NumHeads * c.DOut
	case Additive:
		return c.DKey
	}
	return c.DOut
}

// Validate says what is wrong with the name or the sizes.
func (c VariantConfig) Validate() error {
	switch c.Layer {
	case Simple:
		return nil
	case SelfV1:
		return c.v1().Validate()
	case SelfV2:
		return c.v2().Validate()
	case Causal:
		return c.head().Validate()
	case MultiHeadWrapper:
		return c.wrapper().Validate()
	case MultiHead:
		return c.multiHead().Validate()
	case Additive:
		return c.additive().Validate()
	}
	return errorf("Variant", "Layer: got %q, want one of %v", c.Layer, Variants())
}

// New makes the variant as self-attention; additive then attends from a sequence
// to itself.
func (c VariantConfig) New(s Scope) (SelfAttention, error) {
	switch c.Layer {
	case Simple:
		return SimpleSelfAttention{}, nil
	case SelfV1:
		return asSelfAttention(NewSelfAttentionV1(s, c.v1()))
	case SelfV2:
		return asSelfAttention(NewSelfAttentionV2(s, c.v2()))
	case Causal:
		return asSelfAttention(NewCausalAttention(s, c.head()))
	case MultiHeadWrapper:
		return asSelfAttention(NewMultiHeadAttentionWrapper(s, c.wrapper()))
	case MultiHead:
		return asSelfAttention(NewMultiHeadAttention(s, c.multiHead()))
	case Additive:
		l, err := c.NewAdditive(s)
		return asSelfAttention(additiveSelf{l}, err)
	}
	return nil, s.locate(c.Validate())
}

// asSelfAttention makes the layer of a failed constructor a plain nil.
func asSelfAttention[L SelfAttention](l L, err error) (SelfAttention, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}

// NewAdditive makes the additive variant, for queries and keys of different
// sequences.
func (c VariantConfig) NewAdditive(s Scope) (*AdditiveAttention, error) {
	return NewAdditiveAttention(s, c.additive())
}

func (c VariantConfig) v1() SelfAttentionV1Config {
	return SelfAttentionV1Config{In: c.DIn, Out: c.DOut}
}

func (c VariantConfig) v2() SelfAttentionV2Config {
	return SelfAttentionV2Config{In: c.DIn, Out: c.DOut, QKVBias: c.QKVBias}
}

func (c VariantConfig) head() CausalAttentionConfig {
	return CausalAttentionConfig{In: c.DIn, Out: c.DOut, ContextLength: c.ContextLength, Dropout: c.Dropout, QKVBias: c.QKVBias}
}

func (c VariantConfig) wrapper() MultiHeadAttentionWrapperConfig {
	return MultiHeadAttentionWrapperConfig{Head: c.head(), NumHeads: c.NumHeads}
}

func (c VariantConfig) multiHead() MultiHeadAttentionConfig {
	return MultiHeadAttentionConfig{In: c.DIn, Out: c.DOut, NumHeads: c.NumHeads,
		ContextLength: c.ContextLength, Dropout: c.Dropout, QKVBias: c.QKVBias}
}

func (c VariantConfig) additive() AdditiveAttentionConfig {
	return AdditiveAttentionConfig{Query: c.DQuery, Key: c.DKey, Attn: c.DAttn}
}

// additiveSelf is additive attention of a sequence to itself.
type additiveSelf struct{ *AdditiveAttention }

func (l additiveSelf) Forward(b *Build, x *G.Node) (*G.Node, error) {
	return l.AdditiveAttention.Forward(b, x, x)
}

func (l additiveSelf) ForwardWithWeights(b *Build, x *G.Node) (out, weights *G.Node, err error) {
	return l.AdditiveAttention.ForwardWithWeights(b, x, x)
}
