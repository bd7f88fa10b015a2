package layers

import (
	"cmp"
	"errors"

	"attention/graph/mask"
	"attention/internal/config"
)

// Validate returns an error that names the first wrong field.
func (c AttentionConfig) Validate() error { return inLayer("Attention", c.validate()) }

func (c AttentionConfig) validate() error {
	err := cmp.Or(config.AtLeast(c, 1, "EmbedDim", "NumHeads"),
		config.AtLeast(c, 0, "KDim", "VDim", "OutDim", "NumKVHeads", "HeadDim", "ValueDim", "ContextLength"),
		config.AtLeast(c, 0, "Scale", "Softcap", "QKNormEps", "OutStd"),
		config.Probability(c, "Dropout", "ContextDropout", "OutDropout"),
		config.OneOf(c, "QKNorm", cmp.Or(c.QKNorm, RMSNorm), L2Norm, RMSNorm),
		config.Check(c.stated(), attentionRules), c.validateLayout())
	if err != nil {
		return err
	}
	err = cmp.Or(c.validateLatent(), c.validateSizes(), c.validateMask(), c.validateDifferential(), c.validatePositions(),
		c.validateScore())
	if err != nil {
		return err
	}
	_, err = Declare(newAttention, c)
	var large *layerError // of a parameter
	if errors.As(err, &large) {
		return config.Errorf(c, "", "%s: %w", large.name, large.err)
	}
	return err
}

// attentionRules are the settings that exclude or need each other.
var attentionRules = []config.Rule{
	{Settings: "OutBias OutStd", Exclude: "ContextOnly"},
	{Settings: "QKNormEps QKNormWhole QKNormOffset", Need: "QKNorm"},
	{Settings: "SigmoidBias", Need: "Sigmoid"},
	{Settings: "Sigmoid", Exclude: "Sinks"},
	{Settings: "Score", Exclude: "ScoreGraph"},
	{Settings: "AddBiasKV AddZeroAttn", Exclude: "Sparse", Why: "added keys are in no block"},
	{Settings: "ALiBi RelativeBias Sinks Forget Sigmoid Score ScoreGraph", Exclude: "Differential"},
	{Settings: "KDim VDim", Exclude: "Latent", Why: "its keys and values are of the query's sequence"},
	{Settings: "HeadDim ValueDim RoPE.Dims", Exclude: "Latent", Why: "it has sizes of its own"},
	{Settings: "NumKVHeads QKVBias QKNorm Differential", Exclude: "Latent"},
}

// layoutRules are the layouts that settings exclude or need.
var layoutRules = []config.Rule{
	{Settings: "Latent", Need: "Layout=llama"},
	{Settings: "Layout=raw", Need: "ContextOnly"},
	{Settings: "QKVBias", Exclude: "Layout=raw"},
	{Settings: "NumKVHeads", Exclude: "Layout=per_head", Why: "each head has keys and values of its own"},
	{Settings: "KDim VDim", Exclude: "Layout=gpt2", Why: "one product makes queries, keys and values"},
}

// stated returns c without sizes that equal their defaults, and with its layout set.
func (c AttentionConfig) stated() AttentionConfig {
	c.Layout = c.ownLayout()
	for size, own := range map[*int]int{&c.KDim: c.EmbedDim, &c.VDim: c.EmbedDim, &c.NumKVHeads: c.NumHeads} {
		if *size == own {
			*size = 0
		}
	}
	return c
}

// validateLayout checks that the layout is known and supports all parts of the config.
func (c AttentionConfig) validateLayout() error {
	return cmp.Or(c.Layout.validate(c), config.Check(c.stated(), layoutRules))
}

// validateMask checks the settings of the keys that a query sees.
func (c AttentionConfig) validateMask() error {
	if err := mask.Validate(c.Mask); err != nil {
		return config.In(c, "Mask", err)
	}
	if mask.HoldsNode(c.Mask) {
		return config.Errorf(c, "Mask", "got one that holds a node, want it in the input of a call")
	}
	if c.Sparse != nil {
		return config.In(c, "Sparse", c.Sparse.Validate())
	}
	return nil
}

// validateSizes checks that the sizes fit each other.
func (c AttentionConfig) validateSizes() error {
	r := c.resolved()
	if c.HeadDim == 0 && c.Latent == nil && r.OutDim%c.NumHeads != 0 {
		return config.Errorf(c, "NumHeads", "got %d, want a divisor of %s=%d", c.NumHeads, config.Field("OutDim"), r.OutDim)
	}
	if c.NumHeads%r.NumKVHeads != 0 {
		return config.Errorf(c, "NumKVHeads", "got %d, want 0 or a divisor of %s=%d", c.NumKVHeads,
			config.Field("NumHeads"), c.NumHeads)
	}
	err := cmp.Or(config.AtMost(c, maxHeads, "NumHeads"),
		config.AtMost(r, maxElements, "EmbedDim", "KDim", "VDim", "OutDim", "HeadDim", "ValueDim"))
	if err != nil {
		return err
	}
	for _, width := range []int{r.queryWidth(), r.contextWidth()} {
		if width > maxElements {
			return config.Errorf(c, "NumHeads", "got %d, which are %d wide together, want at most %d",
				c.NumHeads, width, maxElements)
		}
	}
	if c.ContextOnly && r.OutDim != r.contextWidth() {
		return config.Errorf(c, "OutDim", "got %d with %s, want 0 or the heads' %d", c.OutDim,
			config.Field("ContextOnly"), r.contextWidth())
	}
	return nil
}

// maxHeads is the largest number of heads of a layer. In the layout PerHead each head has its own parameters.
const maxHeads = 1 << 16
