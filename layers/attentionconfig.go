package layers

import (
	"cmp"
	"encoding/json"
	"math"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/config"
)

// AttentionConfig configures an Attention. All fields except EmbedDim and NumHeads may be zero, which gives plain
// multi-head attention without biases.
//
// The computation has these parts, in this order: the projections of queries, keys and values, QKNorm, RoPE, the keys
// of AddBiasKV and AddZeroAttn, q·kᵀ, Scale, Softcap, Score or ScoreGraph, the biases (of the input, ALiBi,
// RelativeBias, Forget), the mask, the softmax or Sigmoid. Therefore the keys of AddBiasKV and AddZeroAttn are neither
// normalised nor rotated; they also get no bias, and no mask hides them.
type AttentionConfig struct {
	EmbedDim int `json:"embed_dim"`         // E, width of the queries
	KDim     int `json:"kdim,omitempty"`    // width of the keys; 0 means EmbedDim
	VDim     int `json:"vdim,omitempty"`    // width of the values; 0 means EmbedDim
	OutDim   int `json:"out_dim,omitempty"` // width of the output; 0 means EmbedDim

	NumHeads int `json:"num_heads"` // H, a divisor of OutDim unless HeadDim is given
	// NumKVHeads is K, a divisor of NumHeads: fewer than H is grouped-query attention, 1
	// multi-query. 0 means H.
	NumKVHeads int `json:"num_kv_heads,omitempty"`
	HeadDim    int `json:"head_dim,omitempty"`  // D, width of a head's queries and keys; 0 means OutDim/NumHeads
	ValueDim   int `json:"value_dim,omitempty"` // Dv, width of a head's values; 0 means HeadDim

	QKVBias     bool   `json:"qkv_bias,omitempty"`     // a bias in the three projections
	OutBias     bool   `json:"out_bias,omitempty"`     // a bias in the output projection
	ContextOnly bool   `json:"context_only,omitempty"` // no output projection: OutDim is H·Dv, the heads side by side
	Layout      Layout `json:"layout,omitempty"`       // names, shapes and initial values; zero: Book, with Latent Llama
	// OutStd is the deviation of the output projection's initial weights; 0 means Layout's.
	OutStd float64 `json:"out_std,omitempty"`

	ContextLength int `json:"context_length,omitempty"` // longest sequence of queries, keys and values; 0: no limit

	Mask mask.Mask `json:"mask,omitempty"` // which keys a query sees in every call, without nodes; nil means all
	// Align sets the positions of the queries among the keys, for RoPE, ALiBi and RelativeBias, if the numbers of queries
	// and keys differ; the zero value, mask.Square, makes that an error.
	Align mask.Alignment `json:"align,omitempty"`

	// Sparse shows each query the keys of its own block up to its position, and a few whole blocks before, those with the
	// largest scores (MoBA: Lu et al. 2025), among the keys that Mask shows; nil shows all of them. Queries and keys must
	// be the same tokens.
	Sparse *graph.BlockSparse `json:"sparse,omitempty"`

	Scale   float64 `json:"scale,omitempty"`   // of the scores; 0 means 1/√D
	Softcap float64 `json:"softcap,omitempty"` // keeps scores within ±Softcap (Gemma 2); 0 means no cap
	// Score changes each score by the caller's own function, after Softcap; nil means none. It has no JSON.
	Score *graph.ScoreFunc `json:"score,omitempty"`
	// ScoreGraph changes the scores by ops, in the place of Score; nil means none. It has no JSON.
	ScoreGraph *ScoreGraph `json:"score_graph,omitempty"`

	// QKNorm normalises each head's queries and keys, with a gain: L2Norm or RMSNorm; zero
	// means none.
	QKNorm    NormKind `json:"qk_norm,omitempty"`
	QKNormEps float64  `json:"qk_norm_eps,omitempty"` // eps of the norm; 0 means 1e-6 for RMSNorm, 1e-12 for L2Norm
	// QKNormWhole normalises all heads together as one row, with a gain for each element (OLMo 2).
	QKNormWhole bool `json:"qk_norm_whole,omitempty"`
	// QKNormOffset makes QKNorm multiply by 1 + weight, with initial weights of 0 (Gemma 3).
	QKNormOffset bool `json:"qk_norm_offset,omitempty"`

	RoPE  *graph.RoPEConfig `json:"rope,omitempty"`  // rotary positions, with Heads 0; nil means none
	ALiBi bool              `json:"alibi,omitempty"` // a bias that falls with distance, as graph.ALiBi's
	// RelativeBias is a learned bias by distance, as graph.T5RelativeBias; nil means none.
	RelativeBias *RelativeBiasConfig `json:"relative_bias,omitempty"`
	// Forget makes it forgetting attention (FoX: Lin et al. 2025): each token has a gate sigmoid(fgate_proj(key)) for each
	// head, and the score of a query and a key before it gets the sum of the gates' logarithms from the token after the
	// key to the query's own. The mask must be causal: keys after a query would gain weight. If there are fewer queries
	// than keys, they are the last tokens, with Align mask.LowerRight.
	Forget bool `json:"forget,omitempty"`

	// Latent computes keys and values from one latent of each token, in place of the three projections; nil means the
	// three projections.
	Latent *LatentConfig `json:"latent,omitempty"`

	Sinks bool `json:"sinks,omitempty"` // a learned score of each head that takes weight and has no value (gpt-oss)
	// Differential subtracts the weights of a second softmax from those of the first; nil means one softmax.
	Differential *DifferentialConfig `json:"differential,omitempty"`
	// Gate multiplies the heads' outputs by sigmoid(query·gate_proj), before the output
	// projection (Qiu et al. 2025).
	Gate bool `json:"gate,omitempty"`
	// Sigmoid makes each weight the sigmoid of its score plus SigmoidBias, in place of the softmax (Ramapuram et al.
	// 2024): the weights of a query need not add up to 1. There are no sinks then.
	Sigmoid bool `json:"sigmoid,omitempty"`
	// SigmoidBias is below 0 and keeps the weights small, as the softmax's sum does: 0 means the paper's −ln
	// ContextLength, or no bias if that is 0.
	SigmoidBias float64 `json:"sigmoid_bias,omitempty"`
	AddBiasKV   bool    `json:"add_bias_kv,omitempty"`   // appends a learned key and value
	AddZeroAttn bool    `json:"add_zero_attn,omitempty"` // appends a key and value of zeros

	Dropout        float64 `json:"dropout,omitempty"`         // of the weights, in Train graphs
	ContextDropout float64 `json:"context_dropout,omitempty"` // of the heads' outputs, before the output projection
	OutDropout     float64 `json:"out_dropout,omitempty"`     // of the output
}

// UnmarshalJSON reads the JSON of json.Marshal. Absent fields keep their values.
func (c *AttentionConfig) UnmarshalJSON(text []byte) (err error) {
	type plain AttentionConfig // without this method
	var m struct {
		Mask json.RawMessage `json:"mask"`
	}
	read := *c
	if err := config.Decode(text, &m, (*plain)(&read)); err != nil {
		return err
	}
	if m.Mask != nil {
		if read.Mask, err = mask.Decode(m.Mask); err != nil {
			return config.JSON(config.In(c, "Mask", err))
		}
	}
	*c = read
	return nil
}

// ownLayout returns the layout, or its default.
func (c AttentionConfig) ownLayout() Layout {
	if c.Latent != nil {
		return cmp.Or(c.Layout, Llama)
	}
	return cmp.Or(c.Layout, Book)
}

// clone returns a config that shares no pointer with c, so that later changes by the caller do not reach a layer.
func (c AttentionConfig) clone() AttentionConfig {
	c.Sparse, c.Score, c.ScoreGraph = copied(c.Sparse), copied(c.Score), copied(c.ScoreGraph)
	c.RoPE, c.RelativeBias = copied(c.RoPE), copied(c.RelativeBias)
	c.Latent, c.Differential = copied(c.Latent), copied(c.Differential)
	return c
}

// copied returns a pointer to a copy of *p; nil for nil.
func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

// resolved returns c with zero sizes replaced by their defaults.
func (c AttentionConfig) resolved() AttentionConfig {
	c = c.clone()
	c.KDim, c.VDim = cmp.Or(c.KDim, c.EmbedDim), cmp.Or(c.VDim, c.EmbedDim)
	c.NumKVHeads = cmp.Or(c.NumKVHeads, c.NumHeads)
	if c.Latent != nil {
		c = c.withLatents()
	}
	c.HeadDim = cmp.Or(c.HeadDim, cmp.Or(c.OutDim, c.EmbedDim)/max(c.NumHeads, 1))
	c.ValueDim = cmp.Or(c.ValueDim, c.HeadDim)
	if c.ContextOnly {
		c.OutDim = cmp.Or(c.OutDim, c.contextWidth())
	}
	c.OutDim = cmp.Or(c.OutDim, c.EmbedDim)
	c.Layout = c.ownLayout()
	if d := c.Differential; d != nil {
		d.LambdaInit = cmp.Or(d.LambdaInit, lambdaInit(0))
	}
	if b := c.RelativeBias; b != nil {
		b.Buckets, b.MaxDistance = cmp.Or(b.Buckets, 32), cmp.Or(b.MaxDistance, 128)
	}
	if c.Sigmoid && c.SigmoidBias == 0 && c.ContextLength > 1 {
		c.SigmoidBias = -math.Log(float64(c.ContextLength))
	}
	return c
}

// queryWidth, keyWidth, valueWidth and contextWidth are the total widths of all heads.
func (c AttentionConfig) queryWidth() int   { return c.NumHeads * c.HeadDim }
func (c AttentionConfig) keyWidth() int     { return c.NumKVHeads * c.HeadDim }
func (c AttentionConfig) valueWidth() int   { return c.NumKVHeads * c.ValueDim }
func (c AttentionConfig) contextWidth() int { return c.NumHeads * c.ValueDim }

// projected returns the widths to which queries, keys and values are projected.
func (c AttentionConfig) projected() [3]int {
	return [3]int{c.queryWidth(), c.keyWidth(), c.valueWidth()}
}
