package layers

import (
	"slices"

	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

// AttentionConfig says what an Attention is made of. All but Width and NumHeads may be
// zero: then it is plain multi-head attention without biases.
type AttentionConfig struct {
	Width      int // E, of the queries
	KeyWidth   int // of the keys; 0 means Width
	ValueWidth int // of the values; 0 means Width
	Out        int // width of the output; 0 means Width

	NumHeads   int // H, a divisor of Out unless HeadDim is given
	NumKVHeads int // K, a divisor of NumHeads: fewer than H is grouped-query attention, 1 multi-query; 0 means H
	HeadDim    int // D, width of a head's queries and keys; 0 means Out/NumHeads
	ValueDim   int // Dv, width of a head's values; 0 means HeadDim

	QKVBias bool   // a bias in the three projections
	OutBias bool   // a bias in the output projection
	Layout  Layout // names, shapes and initial values of the parameters; zero means Book
	// OutStd is the standard deviation of the output projection's initial weights; 0
	// means as Layout draws them.
	OutStd float64

	Scale   float64 // of the scores; 0 means 1/√D
	Softcap float64 // keeps scores within ±Softcap (Gemma 2); 0 means no cap

	Mask        mask.Mask // which keys a query sees in every call; nil means all
	Renormalize bool      // hide by zeroing weights and dividing by what is left, instead of −∞ before the softmax; not with Sinks

	// Align says where the queries stand among the keys, for RoPE, ALiBi and
	// RelativeBias, if there are not as many; zero, mask.Square, refuses that.
	Align        mask.Alignment
	RoPE         *graph.RoPEConfig   // rotary positions, its Heads 0: they are NumHeads and NumKVHeads; nil means none
	ALiBi        bool                // a bias that falls with distance (Press et al. 2022)
	RelativeBias *RelativeBiasConfig // a learned bias by distance (T5); nil means none

	QKNorm      QKNorm  // normalisation of each head's queries and keys, with a learned gain; zero means none
	QKNormEps   float64 // of QKNorm, else 0; 0 means 1e-6 for RMSNorm, 1e-12 for L2Norm
	Sinks       bool    // a learned score of each head that takes weight and has no value (gpt-oss)
	Gate        bool    // the heads' outputs times sigmoid(query·gate_proj), before the output projection (Qiu et al. 2025)
	AddBiasKV   bool    // a learned key and value after the others (torch's add_bias_kv)
	AddZeroAttn bool    // a key and value of zeros after the others (torch's add_zero_attn)

	Dropout        float64 // of the weights, in Train graphs; 0 means none
	ContextDropout float64 // of the heads' outputs, before the output projection; 0 means none
	OutDropout     float64 // of the output; 0 means none
}

// RelativeBiasConfig sizes the learned bias of T5.
type RelativeBiasConfig struct {
	Buckets        int  // of distances, an even number from 4 on, or any from 2 on if Unidirectional; 0 means 32
	MaxDistance    int  // distances from here on share a bucket; 0 means 128
	Unidirectional bool // the decoder's form, in which all later keys share the bucket of the query's own position
}

// QKNorm is how queries and keys are normalised.
type QKNorm string

// The kinds of QKNorm.
const (
	NoQKNorm QKNorm = ""
	L2Norm   QKNorm = "l2"  // x/‖x‖·gain (Henry et al. 2020)
	RMSNorm  QKNorm = "rms" // x/√(mean x² + eps)·gain (as in Qwen 3)
)

// resolved is c with the zeros that stand for a size replaced by it.
func (c AttentionConfig) resolved() AttentionConfig {
	or := func(n *int, instead int) {
		if *n == 0 {
			*n = instead
		}
	}
	or(&c.KeyWidth, c.Width)
	or(&c.ValueWidth, c.Width)
	or(&c.Out, c.Width)
	or(&c.NumKVHeads, c.NumHeads)
	or(&c.HeadDim, c.Out/c.NumHeads)
	or(&c.ValueDim, c.HeadDim)
	if c.Layout == "" {
		c.Layout = Book
	}
	if c.RoPE != nil {
		r := *c.RoPE // what is changed in the caller's later changes no layer
		c.RoPE = &r
	}
	if c.RelativeBias != nil {
		b := *c.RelativeBias
		or(&b.Buckets, 32)
		or(&b.MaxDistance, 128)
		c.RelativeBias = &b
	}
	if c.QKNormEps == 0 {
		c.QKNormEps = 1e-6
		if c.QKNorm == L2Norm {
			c.QKNormEps = 1e-12
		}
	}
	return c
}

// queryWidth, keyWidth, valueWidth and contextWidth are those of all heads side by side.
func (c AttentionConfig) queryWidth() int   { return c.NumHeads * c.HeadDim }
func (c AttentionConfig) keyWidth() int     { return c.NumKVHeads * c.HeadDim }
func (c AttentionConfig) valueWidth() int   { return c.NumKVHeads * c.ValueDim }
func (c AttentionConfig) contextWidth() int { return c.NumHeads * c.ValueDim }

// AttentionInput is what one call of an Attention works on. All but Query may be nil.
type AttentionInput struct {
	Query *G.Node // (T, Width) or (B, T, Width)
	Key   *G.Node // ([B,] S, KeyWidth); nil means Query
	Value *G.Node // ([B,] S, ValueWidth); nil means Key

	Mask mask.Mask // which keys are seen, besides what the config's Mask hides
	Bias *G.Node   // added to the scores, broadcasts to ([B,] H, T, S)

	// Positions of the queries for RoPE, int or int64: () the first, (T), or (B, T). Nil
	// means 0, 1, … from where Align puts the first query or, with a cache, from Start.
	Positions *G.Node
	// KeyPositions are those of the keys. Nil means Positions if the keys are the
	// queries, else 0, 1, …
	KeyPositions *G.Node

	// Cache holds the keys and values of the tokens before the query's, which are put
	// there too; nil means none. Start is then the number of tokens before, an int or
	// int64 scalar that each run gives anew; see graph.CachedAttention.
	Cache *graph.KVCache
	Start *G.Node
}

// Attention is multi-head attention with all that is usual today: self- and
// cross-attention, grouped heads, masks, biases and positions of every kind. The
// chapter's variants are made of it.
type Attention struct {
	name   string          // in errors
	config AttentionConfig // resolved
	form   form
	params map[string]Param
}

// form is how a variant of the chapter differs from an Attention.
type form struct {
	headless bool // one head whose weights have no axis of heads
	bare     bool // no output projection
}

// parameters are those of a config that the form has.
func (f form) parameters(c AttentionConfig) []AttentionParameter {
	return slices.DeleteFunc(c.parameters(), func(p AttentionParameter) bool { return f.bare && p.output })
}

// NewAttention makes the parameters that AttentionConfig.Parameters lists.
func NewAttention(s Scope, c AttentionConfig) (*Attention, error) {
	if err := s.locate(c.Validate()); err != nil {
		return nil, err
	}
	return newAttention(s, "Attention", c, form{})
}

func newAttention(s Scope, layer string, c AttentionConfig, f form) (*Attention, error) {
	a := &Attention{name: s.name(layer), config: c.resolved(), form: f, params: map[string]Param{}}
	for _, p := range f.parameters(a.config) {
		param, err := s.Param(p.Name, p.init, p.Shape...)
		if err != nil {
			return nil, err
		}
		a.params[p.Name] = param
	}
	return a, nil
}

// NewCache makes a cache for the layer; its widths and type are set here.
func (l *Attention) NewCache(c graph.KVCacheConfig) (*graph.KVCache, error) {
	c.KeyWidth, c.ValueWidth = l.config.keyWidth(), l.config.valueWidth()
	return graph.NewKVCache(l.dtype(), c)
}

// Forward maps queries (…, T, Width) to (…, T, Out).
func (l *Attention) Forward(b *Build, in AttentionInput) (*G.Node, error) {
	if in.Cache != nil {
		return withoutWeights(l.forward(b, in, in.cached))
	}
	return withoutWeights(l.forward(b, in, l.attend))
}

// ForwardWithWeights also returns the weights (…, H, T, S), after dropout in a Train
// graph; graph.AverageHeads gives their mean. S counts the keys that AddBiasKV and
// AddZeroAttn add.
func (l *Attention) ForwardWithWeights(b *Build, in AttentionInput) (out, weights *G.Node, err error) {
	if in.Cache != nil {
		return nil, nil, errorf(l.name, "weights: got a cache, want none: it never holds them")
	}
	return l.forward(b, in, composed)
}

// cached is attention to a cache.
func (in AttentionInput) cached(x qkv, c graph.AttentionConfig) (out, weights *G.Node, err error) {
	out, err = graph.CachedAttention(x.q, x.k, x.v, in.Start, in.Cache, c)
	return out, nil, err
}

// attend is attention in one op that never holds the weights. Where weights are
// renormalised it is composed all the same: a hidden score can then change what the
// composed form gives, and both have to be equal.
func (l *Attention) attend(x qkv, c graph.AttentionConfig) (out, weights *G.Node, err error) {
	switch {
	case c.Renormalize:
		return composed(x, c)
	case x.packed != nil && c.Heads > 0:
		out, err = graph.FusedAttentionPacked(x.packed, x.widths(), c)
		return out, nil, err
	}
	return fused(x.q, x.k, x.v, c)
}
