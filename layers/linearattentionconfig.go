package layers

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"attention/internal/config"
)

// LinearAttentionConfig configures a LinearAttention. LinearAttentionOf has the known forms.
type LinearAttentionConfig struct {
	EmbedDim int `json:"embed_dim,omitempty"` // E
	NumHeads int `json:"num_heads,omitempty"` // H
	// NumKVHeads is K, a divisor of NumHeads: heads of keys and values, each with a state. 0 means H.
	NumKVHeads int `json:"num_kv_heads,omitempty"`
	HeadDim    int `json:"head_dim,omitempty"`  // D, width of a head's queries and keys; 0 means EmbedDim/NumHeads
	ValueDim   int `json:"value_dim,omitempty"` // Dv, width of a head's values; 0 means HeadDim

	// ConvSize is how many tokens the convolutions of queries, keys and values see, each followed by SiLU; 0 means
	// none.
	ConvSize int `json:"conv_size,omitempty"`
	// Features maps queries and keys: ELUFeatures, or no map.
	Features string  `json:"features,omitempty"`
	QKNorm   bool    `json:"qk_norm,omitempty"` // queries and keys of a head get length 1, after the features
	Scale    float64 `json:"scale,omitempty"`   // of the outputs; 0 means 1/√D

	// Delta moves the state's value for a key towards the token's value by a fraction β(x): the delta rule.
	Delta bool   `json:"delta,omitempty"`
	Decay string `json:"decay,omitempty"` // of the state at each token; zero means none
	// Normalize divides a query's output by the sum of its weights, which Features keep above 0.
	Normalize bool `json:"normalize,omitempty"`

	Norm    bool    `json:"norm,omitempty"`     // an RMS norm of each head's output, with a gain
	NormEps float64 `json:"norm_eps,omitempty"` // 0 means 1e-5
	Gate    bool    `json:"gate,omitempty"`     // multiplies the outputs by SiLU(x·g_proj), after the norm
}

// ELUFeatures are elu(x) + 1, above 0 (Katharopoulos et al. 2020).
const ELUFeatures = "elu"

// The values of LinearAttentionConfig.Decay.
const (
	FixedDecay   = "fixed"   // of head h by 1 − 2^(−5−h) (RetNet: Sun et al. 2023)
	HeadDecay    = "head"    // of a head by exp(−exp(A_log)·softplus(x·a_proj + dt_bias)) (Mamba-2)
	ChannelDecay = "channel" // of a channel of keys by sigmoid(x·gk_proj)^(1/16) (GLA: Yang et al. 2023)
)

// linearForms are the forms of LinearAttentionOf.
var linearForms = map[string]LinearAttentionConfig{
	"linear":          {Features: ELUFeatures, Normalize: true},
	"retention":       {Decay: FixedDecay, Norm: true, Gate: true},
	"gla":             {Decay: ChannelDecay, Norm: true, Gate: true},
	"delta_net":       {Delta: true, QKNorm: true, ConvSize: 4, Norm: true},
	"gated_delta_net": {Delta: true, Decay: HeadDecay, QKNorm: true, ConvSize: 4, Norm: true, Gate: true},
}

// LinearAttentionOf returns the config of a known form, without its sizes: linear (Katharopoulos et al. 2020),
// retention (Sun et al. 2023), gla (Yang et al. 2023), delta_net or gated_delta_net (Yang et al. 2024).
func LinearAttentionOf(form string) (LinearAttentionConfig, error) {
	c, ok := linearForms[form]
	if !ok {
		return c, errorf("LinearAttention", "form: got %q, want one of %s", form, strings.Join(LinearForms(), ", "))
	}
	return c, nil
}

// LinearForms returns the names of LinearAttentionOf.
func LinearForms() []string { return slices.Sorted(maps.Keys(linearForms)) }

// Validate returns an error that names the first wrong field.
func (c LinearAttentionConfig) Validate() error { return inLayer("LinearAttention", c.validate()) }

func (c LinearAttentionConfig) validate() error {
	err := cmp.Or(config.AtLeast(c, 1, "EmbedDim", "NumHeads"),
		config.AtLeast(c, 0, "NumKVHeads", "HeadDim", "ValueDim", "ConvSize", "NormEps"),
		config.AtMost(c, maxElements, "EmbedDim", "HeadDim", "ValueDim", "ConvSize"), config.AtMost(c, maxHeads, "NumHeads"))
	if err != nil {
		return err
	}
	heads := config.Field("NumHeads")
	if c.HeadDim == 0 && c.EmbedDim%c.NumHeads != 0 {
		return config.Errorf(c, "NumHeads", "got %d for %s=%d, want a divisor of it, or %s", c.NumHeads,
			config.Field("EmbedDim"), c.EmbedDim, config.Field("HeadDim"))
	}
	r := c.resolved()
	switch {
	case c.NumHeads%r.NumKVHeads != 0:
		return config.Errorf(c, "NumKVHeads", "got %d, want a divisor of %s=%d", c.NumKVHeads, heads, c.NumHeads)
	case c.ConvSize == 1:
		return config.Errorf(c, "ConvSize", "got 1, want 0 or at least 2 tokens")
	case c.Normalize && (c.Features == "" || c.Delta):
		return config.Errorf(c, "Normalize", "got true, want it with %s and without %s: weights are above 0 then",
			config.Field("Features"), config.Field("Delta"))
	case !c.Norm && c.NormEps != 0:
		return config.Errorf(c, "NormEps", "got %v without %s, want both", c.NormEps, config.Field("Norm"))
	}
	return cmp.Or(config.OneOf(c, "Features", cmp.Or(c.Features, ELUFeatures), ELUFeatures),
		config.OneOf(c, "Decay", cmp.Or(c.Decay, HeadDecay), FixedDecay, HeadDecay, ChannelDecay),
		tablesFit(c, "EmbedDim", c.EmbedDim, size{"NumHeads", c.NumHeads * max(r.HeadDim, r.ValueDim)}))
}

// resolved returns c with zeros replaced by their defaults.
func (c LinearAttentionConfig) resolved() LinearAttentionConfig {
	c.NumKVHeads = cmp.Or(c.NumKVHeads, c.NumHeads)
	c.HeadDim = cmp.Or(c.HeadDim, c.EmbedDim/max(c.NumHeads, 1))
	c.ValueDim = cmp.Or(c.ValueDim, c.HeadDim)
	c.NormEps = cmp.Or(c.NormEps, 1e-5)
	return c
}

// like returns c with zero sizes replaced by an attention's.
func (c LinearAttentionConfig) like(a AttentionConfig) LinearAttentionConfig {
	if c.HeadDim == 0 && c.NumHeads == 0 {
		c.HeadDim, c.ValueDim = a.HeadDim, cmp.Or(c.ValueDim, a.ValueDim)
	}
	if c.NumHeads == 0 {
		c.NumHeads, c.NumKVHeads = a.NumHeads, cmp.Or(c.NumKVHeads, a.NumKVHeads)
	}
	c.EmbedDim = cmp.Or(c.EmbedDim, a.EmbedDim)
	return c
}
