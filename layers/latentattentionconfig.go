package layers

import (
	"cmp"
	"math"
	"reflect"
	"slices"

	"attention/graph"
	"attention/internal/config"
)

// LatentAttentionConfig configures a LatentAttention. Its sizes have the names of Hugging Face's deepseek_v2 and
// deepseek_v3 in JSON. All fields but Attention's EmbedDim and NumHeads may be zero.
type LatentAttentionConfig struct {
	// Attention has what does not depend on the latents: EmbedDim, OutDim, NumHeads, ContextLength, Mask, Align, Scale (0
	// means 1/√(plain + rotary width)), Softcap, RoPE, ALiBi, OutBias, OutStd and the dropouts; the Layout is Llama.
	// Other fields are refused. RoPE, if not nil, says how the rotary parts turn: all of them, in interleaved pairs. In
	// a Block the zero value means the block's Attention, whose head widths are those of the plain parts and of values.
	Attention AttentionConfig `json:"attention,omitzero"`

	QLoraRank     int `json:"q_lora_rank,omitempty"`      // width of the queries' latent; 0 means none, as in V2-Lite
	KVLoraRank    int `json:"kv_lora_rank,omitempty"`     // N, width of keys' and values' latent; 0 means 4·P
	QKNopeHeadDim int `json:"qk_nope_head_dim,omitempty"` // P, of a head's plain queries, keys; 0 means EmbedDim/NumHeads
	// QKRopeHeadDim is R, the even width of a head's rotary queries and of the one rotary key; 0 means half of P.
	QKRopeHeadDim int `json:"qk_rope_head_dim,omitempty"`
	VHeadDim      int `json:"v_head_dim,omitempty"` // Dv, of a head's values; 0 means P
}

// latentFields are the fields of AttentionConfig that a LatentAttention takes.
var latentFields = []string{"EmbedDim", "OutDim", "NumHeads", "Layout", "ContextLength", "Mask", "Align", "Scale",
	"Softcap", "RoPE", "ALiBi", "OutBias", "OutStd", "Dropout", "ContextDropout", "OutDropout"}

// Validate returns an error that names the first wrong field.
func (c LatentAttentionConfig) Validate() error { return inLayer("LatentAttention", c.validate()) }

func (c LatentAttentionConfig) validate() error {
	sizes := []string{"QLoraRank", "KVLoraRank", "QKNopeHeadDim", "QKRopeHeadDim", "VHeadDim"}
	err := cmp.Or(config.AtLeast(c, 1, "Attention.EmbedDim", "Attention.NumHeads"), config.AtLeast(c, 0, sizes...),
		config.AtMost(c, maxElements/8, sizes...), c.validateFields())
	if err != nil {
		return err
	}
	if a := c.Attention; c.QKNopeHeadDim == 0 && a.EmbedDim%a.NumHeads != 0 {
		return config.Errorf(c, "Attention.NumHeads", "got %d for %s=%d, want a divisor of it, or %s", a.NumHeads,
			config.Field("Attention.EmbedDim"), a.EmbedDim, config.Field("QKNopeHeadDim"))
	}
	r := c.resolved()
	if r.QKRopeHeadDim%2 != 0 {
		return config.Errorf(c, "QKRopeHeadDim", "got %d, want an even number", c.QKRopeHeadDim)
	}
	if err := r.attention().validateFields(); err != nil {
		return config.In(c, "Attention", err)
	}
	return parametersFit(newLatentAttention, c)
}

// validateFields refuses fields of Attention that the layer does not take.
func (c LatentAttentionConfig) validateFields() error {
	v := reflect.ValueOf(c.Attention)
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; !v.Field(i).IsZero() && !slices.Contains(latentFields, name) {
			return config.Errorf(c, "Attention."+name, "got %v, want none: it is no part of latent attention", v.Field(i))
		}
	}
	switch a := c.Attention; {
	case a.Layout != "" && a.Layout != Llama:
		return config.Errorf(c, "Attention.Layout", "got %q, want %q, or none", a.Layout, Llama)
	case a.RoPE != nil && a.RoPE.Dims != 0:
		return config.Errorf(c, "Attention.RoPE.Dims", "got %d, want 0: they are %s", a.RoPE.Dims,
			config.Field("QKRopeHeadDim"))
	}
	return nil
}

// resolved returns c with zeros replaced by their defaults.
func (c LatentAttentionConfig) resolved() LatentAttentionConfig {
	c.QKNopeHeadDim = cmp.Or(c.QKNopeHeadDim, c.Attention.EmbedDim/max(c.Attention.NumHeads, 1))
	c.QKRopeHeadDim = cmp.Or(c.QKRopeHeadDim, max(2, c.QKNopeHeadDim/4*2))
	c.VHeadDim = cmp.Or(c.VHeadDim, c.QKNopeHeadDim)
	c.KVLoraRank = cmp.Or(c.KVLoraRank, 4*c.QKNopeHeadDim)
	return c
}

// like returns c for a block with an attention.
func (c LatentAttentionConfig) like(a AttentionConfig) LatentAttentionConfig {
	if c.Attention.EmbedDim != 0 {
		return c
	}
	c.QKNopeHeadDim = cmp.Or(c.QKNopeHeadDim, a.HeadDim)
	c.VHeadDim = cmp.Or(c.VHeadDim, a.ValueDim)
	if a.NumKVHeads == a.NumHeads {
		a.NumKVHeads = 0
	}
	a.HeadDim, a.ValueDim, a.QKVBias, a.Layout = 0, 0, false, ""
	c.Attention = a
	return c
}

// attention returns the config of the attention of the heads' own queries, keys and values, of a resolved c.
func (c LatentAttentionConfig) attention() AttentionConfig {
	a, turn := c.Attention, graph.RoPEConfig{}
	if a.RoPE != nil {
		turn = *a.RoPE
	}
	turn.Dims, turn.AtEnd, turn.Interleaved = c.QKRopeHeadDim, true, true
	a.Layout, a.RoPE = Llama, &turn
	a.HeadDim, a.ValueDim = c.QKNopeHeadDim+c.QKRopeHeadDim, c.VHeadDim
	a.Scale = cmp.Or(a.Scale, 1/math.Sqrt(float64(a.HeadDim)))
	a.OutDim = cmp.Or(a.OutDim, a.EmbedDim)
	return a
}

func (c LatentAttentionConfig) modelWidths() []size {
	a := c.Attention
	return []size{{"Attention.EmbedDim", a.EmbedDim}, {"Attention.OutDim", cmp.Or(a.OutDim, a.EmbedDim)}}
}

func (c LatentAttentionConfig) weightHeads() int { return c.Attention.NumHeads }

func (c LatentAttentionConfig) cacheWidth() int {
	c = c.resolved()
	return c.KVLoraRank + c.QKRopeHeadDim
}

func (c LatentAttentionConfig) layer(m *maker, name string) blockAttention {
	return part(m, name, newLatentAttention, c)
}
