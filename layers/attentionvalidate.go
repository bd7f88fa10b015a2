package layers

import (
	"cmp"
	"errors"
	"math"

	"attention/graph/mask"
	"attention/internal/config"
)

// Validate returns an error that names the first wrong field.
func (c AttentionConfig) Validate() error { return inLayer("Attention", c.validate()) }

func (c AttentionConfig) validate() error {
	if err := c.validateFields(); err != nil {
		return err
	}
	return parametersFit(newAttention, c)
}

// attentionRules are the settings that exclude each other.
var attentionRules = []config.Rule{
	{Setting: "KDim", Other: "Latent", Why: "keys are made from the query's sequence"},
	{Setting: "VDim", Other: "Latent", Why: "values are made from the query's sequence"},
	{Setting: "NumKVHeads", Other: "Latent", Why: "a latent serves all heads"},
	{Setting: "HeadDim", Other: "Latent", Why: "a latent has sizes of its own"},
	{Setting: "ValueDim", Other: "Latent", Why: "a latent has sizes of its own"},
	{Setting: "QKVBias", Other: "Latent"},
	{Setting: "QKNorm", Other: "Latent"},
	{Setting: "RoPE.Dims", Other: "Latent", Why: "a latent has sizes of its own"},
	{Setting: "Differential", Other: "Latent"},
}

// stated returns c without the sizes that are their defaults, and with its layout.
func (c AttentionConfig) stated() AttentionConfig {
	c.Layout = c.ownLayout()
	for _, size := range []struct {
		field *int
		own   int
	}{{&c.KDim, c.EmbedDim}, {&c.VDim, c.EmbedDim}, {&c.NumKVHeads, c.NumHeads}} {
		if *size.field == size.own {
			*size.field = 0
		}
	}
	return c
}

// validateFields is validate but for the sizes of parameters.
func (c AttentionConfig) validateFields() error {
	err := cmp.Or(config.AtLeast(c, 1, "EmbedDim", "NumHeads"),
		config.AtLeast(c, 0, "KDim", "VDim", "OutDim", "NumKVHeads", "HeadDim", "ValueDim", "ContextLength"),
		config.AtLeast(c, 0, "Scale", "Softcap", "QKNormEps", "OutStd"),
		config.Probability(c, "Dropout", "ContextDropout", "OutDropout"))
	if err != nil {
		return err
	}
	if err := cmp.Or(config.Check(c.stated(), attentionRules), c.validateLatent()); err != nil {
		return err
	}
	return cmp.Or(c.validateSizes(), c.validateParts(), c.resolved().validateLayout())
}

// parametersFit refuses a config with a parameter that is too large.
func parametersFit[C, L any](construct func(Scope, C) (L, error), c C) error {
	_, err := Declare(construct, c)
	var large *layerError
	if errors.As(err, &large) {
		return config.Errorf(c, "", "%s: %w", large.name, large.err)
	}
	return err
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

// validateParts checks the optional parts.
func (c AttentionConfig) validateParts() error {
	contextOnly, heads := config.Field("ContextOnly"), config.Field("NumHeads")
	switch {
	case c.ContextOnly && c.OutBias:
		return config.Errorf(c, "OutBias", "got true with %s, want one of the two", contextOnly)
	case c.ContextOnly && c.OutStd != 0:
		return config.Errorf(c, "OutStd", "got %v with %s, want 0", c.OutStd, contextOnly)
	case c.QKNorm == "" && c.QKNormEps != 0:
		return config.Errorf(c, "QKNormEps", "got %v without %s, want both", c.QKNormEps, config.Field("QKNorm"))
	case c.QKNorm == "" && c.QKNormWhole:
		return config.Errorf(c, "QKNormWhole", "got true without %s, want both", config.Field("QKNorm"))
	case c.QKNorm == "" && c.QKNormOffset:
		return config.Errorf(c, "QKNormOffset", "got true without %s, want both", config.Field("QKNorm"))
	case c.Sigmoid && c.Sinks:
		return config.Errorf(c, "Sigmoid", "got true with %s, want one of the two", config.Field("Sinks"))
	case !c.Sigmoid && c.SigmoidBias != 0:
		return config.Errorf(c, "SigmoidBias", "got %v without %s, want both", c.SigmoidBias, config.Field("Sigmoid"))
	case c.SigmoidBias > 0 || math.IsNaN(c.SigmoidBias) || math.IsInf(c.SigmoidBias, 0):
		return config.Errorf(c, "SigmoidBias", "got %v, want a finite number below 0, or 0", c.SigmoidBias)
	case c.RoPE != nil && c.RoPE.Heads != 0:
		return config.Errorf(c, "RoPE.Heads", "got %d, want 0: they are %s", c.RoPE.Heads, heads)
	}
	if c.Sparse != nil {
		if err := c.Sparse.Validate(); err != nil {
			return config.In(c, "Sparse", err)
		}
		if c.extraKeys() > 0 {
			return config.Errorf(c, "Sparse", "got it with AddBiasKV or AddZeroAttn, want it without")
		}
	}
	if c.QKNorm != "" {
		if err := config.OneOf(c, "QKNorm", c.QKNorm, L2Norm, RMSNorm); err != nil {
			return err
		}
	}
	if err := mask.Validate(c.Mask); err != nil {
		return config.In(c, "Mask", err)
	}
	if mask.HoldsNode(c.Mask) {
		return config.Errorf(c, "Mask", "got one that holds a node, want it in the input of a call")
	}
	if _, err := c.Align.MarshalText(); err != nil {
		return config.In(c, "Align", err)
	}
	if err := c.validateDifferential(); err != nil {
		return err
	}
	if r := c.resolved(); r.RoPE != nil {
		_, _, width := r.softmaxes()
		if err := r.RoPE.Validate(width); err != nil {
			return config.In(c, "RoPE", err)
		}
	}
	return cmp.Or(c.validateScore(), c.validateRelativeBias())
}

// validateScore checks the functions of scores.
func (c AttentionConfig) validateScore() error {
	switch {
	case c.Score != nil && c.ScoreGraph != nil:
		return config.Errorf(c, "Score", "got %v with %v, want one of the two", c.Score, c.ScoreGraph)
	case c.Score != nil:
		return config.In(c, "Score", c.Score.Validate())
	case c.ScoreGraph != nil && c.ScoreGraph.Of == nil:
		return config.Errorf(c, "ScoreGraph", "got %v without Of, want a function", c.ScoreGraph)
	}
	return nil
}

// validateRelativeBias checks the sizes of T5's bias.
func (c AttentionConfig) validateRelativeBias() error {
	r := c.resolved().RelativeBias
	if r == nil {
		return nil
	}
	side := r.Buckets // for the keys before a query; half of them hold one distance each
	if !r.Unidirectional {
		side /= 2
	}
	if side < 2 || !r.Unidirectional && r.Buckets%2 != 0 {
		return config.Errorf(c, "RelativeBias.Buckets", "got %d, want an even number from 4 on, or if %s any from 2 on",
			r.Buckets, config.Field("RelativeBias.Unidirectional"))
	}
	if r.MaxDistance <= side/2 {
		return config.Errorf(c, "RelativeBias.MaxDistance", "got %d, want more than the %d distances that have a bucket each",
			r.MaxDistance, side/2)
	}
	return config.AtMost(c, maxElements, "RelativeBias.MaxDistance")
}

// validateLayout checks that the layout has every part that a resolved config asks for.
func (c AttentionConfig) validateLayout() error {
	if err := c.Layout.validate(c); err != nil {
		return err
	}
	if c.Layout == GPT2 && (c.KDim != c.EmbedDim || c.VDim != c.EmbedDim) {
		return config.Errorf(c, "Layout", "got %q with %s=%d and %s=%d, want both as %s=%d, or another layout",
			c.Layout, config.Field("KDim"), c.KDim, config.Field("VDim"), c.VDim, config.Field("EmbedDim"), c.EmbedDim)
	}
	return config.Check(c.stated(), layoutRules)
}

// layoutRules are the layouts that settings exclude or need.
var layoutRules = []config.Rule{
	{Setting: "Latent", Other: "Layout=llama", Needs: true},
	{Setting: "Layout=raw", Other: "ContextOnly", Needs: true},
	{Setting: "QKVBias", Other: "Layout=raw"},
	{Setting: "NumKVHeads", Other: "Layout=per_head", Why: "each head has keys and values of its own"},
}

// maxHeads is the most heads of a layer: in the layout PerHead each head has parameters of its own.
const maxHeads = 1 << 16
