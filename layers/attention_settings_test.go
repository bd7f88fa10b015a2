package layers_test

import (
	"attention/graph"
	"attention/graph/mask"
	"attention/layers"
)

// but is a config with changes.
func but(c layers.AttentionConfig, change func(c *layers.AttentionConfig)) layers.AttentionConfig {
	change(&c)
	return c
}

// The configs of testdata/torch/attention.py; torch has a module for the first three only.
var (
	mha       = layers.AttentionConfig{EmbedDim: 6, NumHeads: 3, QKVBias: true, OutBias: true, Layout: layers.Torch}
	mhaPlain  = layers.AttentionConfig{EmbedDim: 6, NumHeads: 3, Layout: layers.Torch}
	mhaWidths = layers.AttentionConfig{EmbedDim: 6, KDim: 11, VDim: 13, NumHeads: 3,
		QKVBias: true, OutBias: true, Layout: layers.Torch}

	sixHeads = layers.AttentionConfig{EmbedDim: 11, NumHeads: 6, HeadDim: 4}
	gpt2     = layers.AttentionConfig{EmbedDim: 12, NumHeads: 3, HeadDim: 4,
		QKVBias: true, OutBias: true, Layout: layers.GPT2}
	llama = layers.AttentionConfig{EmbedDim: 11, NumHeads: 6, NumKVHeads: 2, HeadDim: 4,
		RoPE: &graph.RoPEConfig{}, Mask: mask.Causal{}, Layout: layers.Llama}

	everything = layers.AttentionConfig{
		EmbedDim: 11, KDim: 13, VDim: 3, OutDim: 17, NumHeads: 6, NumKVHeads: 2, HeadDim: 6, ValueDim: 5,
		QKVBias: true, OutBias: true, Scale: 0.3, Softcap: 5, RoPE: &graph.RoPEConfig{Dims: 4}, ALiBi: true,
		RelativeBias: &layers.RelativeBiasConfig{Buckets: 8, MaxDistance: 20},
		QKNorm:       layers.RMSNorm, Sinks: true, Gate: true, AddBiasKV: true, AddZeroAttn: true,
		Align: mask.LowerRight, Mask: mask.SlidingWindow{Left: 2, Right: 1, Align: mask.LowerRight},
	}
)

// attentionCases are those of testdata/torch/attention.py.
var attentionCases = map[string]layers.AttentionConfig{
	"mha_self":               but(mha, func(c *layers.AttentionConfig) { c.EmbedDim = 15 }),
	"mha_no_bias":            mhaPlain,
	"mha_one_head":           but(mha, func(c *layers.AttentionConfig) { c.EmbedDim, c.NumHeads = 7, 1 }),
	"mha_sequence_first":     mha,
	"mha_unbatched":          mha,
	"mha_cross":              mha,
	"mha_cross_three":        mha,
	"mha_cross_value":        mha,
	"mha_widths":             mhaWidths,
	"mha_widths_no_bias":     but(mhaWidths, func(c *layers.AttentionConfig) { c.QKVBias, c.OutBias = false, false }),
	"mha_key_width":          but(mha, func(c *layers.AttentionConfig) { c.KDim = 11 }),
	"mha_widths_bias_kv":     but(mhaWidths, func(c *layers.AttentionConfig) { c.AddBiasKV = true }),
	"mha_bias_kv":            but(mha, func(c *layers.AttentionConfig) { c.AddBiasKV = true }),
	"mha_zero_attn":          but(mhaPlain, func(c *layers.AttentionConfig) { c.AddZeroAttn = true }),
	"mha_both":               mhaBoth(),
	"mha_both_masked":        mhaBoth(),
	"mha_both_all_hidden":    mhaBoth(),
	"mha_both_float_mask":    mhaBoth(),
	"mha_padding":            mha,
	"mha_holes":              mha,
	"mha_unbatched_padding":  mha,
	"mha_bool_mask":          mha,
	"mha_bool_masks":         mha,
	"mha_float_mask":         mha,
	"mha_float_masks":        mha,
	"mha_infinite_mask":      mha,
	"mha_float_mask_padding": mha,
	"mha_causal":             but(mha, func(c *layers.AttentionConfig) { c.Mask = mask.Causal{} }),
	"mha_causal_upper_left":  but(mha, func(c *layers.AttentionConfig) { c.Mask = mask.Causal{Align: mask.UpperLeft} }),
	"mha_causal_padding":     but(mha, func(c *layers.AttentionConfig) { c.Mask = mask.Causal{} }),

	"grouped":     but(sixHeads, func(c *layers.AttentionConfig) { c.NumKVHeads = 2 }),
	"multi_query": but(sixHeads, func(c *layers.AttentionConfig) { c.NumKVHeads, c.QKVBias = 1, true }),
	"grouped_cross": but(sixHeads, func(c *layers.AttentionConfig) {
		c.NumKVHeads, c.Mask = 3, mask.Causal{Align: mask.UpperLeft}
	}),
	"sizes": {EmbedDim: 11, KDim: 13, VDim: 3, OutDim: 17, NumHeads: 3, HeadDim: 5, ValueDim: 7, QKVBias: true,
		OutBias: true},
	"value_dim": but(sixHeads, func(c *layers.AttentionConfig) { c.NumKVHeads, c.ValueDim = 2, 3 }),
	"scale":     but(sixHeads, func(c *layers.AttentionConfig) { c.Scale = 0.71 }),
	"softcap":   but(sixHeads, func(c *layers.AttentionConfig) { c.Softcap = 1.5 }),

	"rope": but(sixHeads, func(c *layers.AttentionConfig) { c.RoPE = &graph.RoPEConfig{} }),
	"rope_interleaved": but(sixHeads, func(c *layers.AttentionConfig) {
		c.RoPE = &graph.RoPEConfig{Interleaved: true, Base: 500}
	}),
	"rope_part": but(sixHeads, func(c *layers.AttentionConfig) {
		c.HeadDim, c.NumKVHeads, c.RoPE = 7, 2, &graph.RoPEConfig{Dims: 4}
	}),
	"rope_positions": but(sixHeads, func(c *layers.AttentionConfig) { c.RoPE = &graph.RoPEConfig{} }),
	"rope_cross": but(sixHeads, func(c *layers.AttentionConfig) {
		c.RoPE, c.Align = &graph.RoPEConfig{}, mask.UpperLeft
	}),
	"rope_cross_lower_right": but(sixHeads, func(c *layers.AttentionConfig) {
		c.RoPE, c.Align = &graph.RoPEConfig{Interleaved: true}, mask.LowerRight
	}),
	"rope_cross_positions": but(sixHeads, func(c *layers.AttentionConfig) { c.RoPE = &graph.RoPEConfig{} }),

	"alibi": but(sixHeads, func(c *layers.AttentionConfig) { c.ALiBi = true }),
	"alibi_causal_cross": but(sixHeads, func(c *layers.AttentionConfig) {
		c.ALiBi, c.Align, c.Mask = true, mask.LowerRight, mask.Causal{Align: mask.LowerRight}
	}),
	"t5": but(sixHeads, func(c *layers.AttentionConfig) {
		c.RelativeBias = &layers.RelativeBiasConfig{Buckets: 8, MaxDistance: 4}
	}),
	"t5_decoder": but(sixHeads, func(c *layers.AttentionConfig) {
		c.RelativeBias = &layers.RelativeBiasConfig{Buckets: 5, MaxDistance: 4, Unidirectional: true}
		c.Align, c.Mask = mask.LowerRight, mask.Causal{Align: mask.LowerRight}
	}),
	"alibi_t5": but(sixHeads, func(c *layers.AttentionConfig) {
		c.ALiBi, c.RelativeBias = true, &layers.RelativeBiasConfig{Buckets: 6}
	}),

	"window": but(sixHeads, func(c *layers.AttentionConfig) { c.Mask = mask.SlidingWindow{Left: 2} }),
	"window_both": but(sixHeads, func(c *layers.AttentionConfig) {
		c.Mask = mask.SlidingWindow{Left: 2, Right: 1, Align: mask.LowerRight}
	}),
	"prefix": but(sixHeads, func(c *layers.AttentionConfig) {
		c.Mask = mask.Or(mask.Causal{}, mask.Prefix{N: 3})
	}),
	"segments":        sixHeads,
	"segments_causal": but(sixHeads, func(c *layers.AttentionConfig) { c.Mask = mask.Causal{} }),
	"segments_cross":  sixHeads,
	"renormalized":    but(sixHeads, func(c *layers.AttentionConfig) { c.Mask = mask.Causal{} }),

	"sinks": but(sixHeads, func(c *layers.AttentionConfig) { c.Sinks = true }),
	"sinks_causal": but(sixHeads, func(c *layers.AttentionConfig) {
		c.NumKVHeads, c.Sinks, c.Mask = 2, true, mask.Causal{}
	}),
	"norm_rms": but(sixHeads, func(c *layers.AttentionConfig) { c.QKNorm = layers.RMSNorm }),
	"norm_l2": but(sixHeads, func(c *layers.AttentionConfig) {
		c.NumKVHeads, c.QKNorm, c.Scale = 2, layers.L2Norm, 3
	}),
	"gate": but(sixHeads, func(c *layers.AttentionConfig) { c.Gate, c.ValueDim, c.OutBias = true, 3, true }),
	"bias_kv_grouped": but(sixHeads, func(c *layers.AttentionConfig) {
		c.NumKVHeads, c.ValueDim, c.AddBiasKV, c.AddZeroAttn, c.Mask = 2, 3, true, true, mask.Causal{Align: mask.UpperLeft}
	}),

	"gpt2":         but(gpt2, func(c *layers.AttentionConfig) { c.Mask = mask.Causal{} }),
	"gpt2_no_bias": {EmbedDim: 11, NumHeads: 3, NumKVHeads: 1, HeadDim: 4, ValueDim: 3, OutDim: 7, Layout: layers.GPT2},
	"gpt2_cross":   gpt2,
	"llama":        but(llama, func(c *layers.AttentionConfig) { c.EmbedDim, c.HeadDim = 12, 0 }),
	"llama_bias": {EmbedDim: 11, KDim: 13, VDim: 3, NumHeads: 3, HeadDim: 5, QKVBias: true, OutBias: true,
		Layout: layers.Llama},
	"qwen": but(llama, func(c *layers.AttentionConfig) {
		c.NumKVHeads, c.RoPE, c.QKNorm = 3, &graph.RoPEConfig{Base: 1e6}, layers.RMSNorm
	}),
	"gemma": but(llama, func(c *layers.AttentionConfig) {
		c.Softcap, c.Scale, c.Mask = 2, 0.4, mask.SlidingWindow{Left: 2}
	}),
	"oss": but(llama, func(c *layers.AttentionConfig) {
		c.Sinks, c.QKVBias, c.OutBias, c.Mask = true, true, true, mask.SlidingWindow{Left: 1}
	}),

	"everything": everything,
	"everything_llama": but(everything, func(c *layers.AttentionConfig) {
		c.Layout, c.QKNorm, c.NumKVHeads = layers.Llama, layers.L2Norm, 3
		c.RoPE = &graph.RoPEConfig{Dims: 4, Interleaved: true}
		c.RelativeBias = &layers.RelativeBiasConfig{Buckets: 8, MaxDistance: 20, Unidirectional: true}
	}),
	"everything_gpt2": but(everything, func(c *layers.AttentionConfig) { c.Layout, c.KDim, c.VDim = layers.GPT2, 0, 0 }),

	"causal_offset": but(sixHeads, func(c *layers.AttentionConfig) {
		c.NumKVHeads, c.Mask = 2, mask.Causal{Offset: 2}
	}),
	"causal_offset_ahead": but(sixHeads, func(c *layers.AttentionConfig) { c.Mask = mask.Causal{Offset: 3} }),
	"causal_offset_blind": but(sixHeads, func(c *layers.AttentionConfig) {
		c.NumKVHeads, c.QKVBias, c.Mask = 3, true, mask.Causal{Align: mask.UpperLeft, Offset: -2}
	}),
	"causal_offset_past": but(llama, func(c *layers.AttentionConfig) {
		c.Align, c.Mask = mask.LowerRight, mask.Causal{Offset: 2}
	}),
	"causal_starts":         but(sixHeads, func(c *layers.AttentionConfig) { c.NumKVHeads = 2 }),
	"causal_starts_padding": sixHeads,

	"sigmoid": but(sixHeads, func(c *layers.AttentionConfig) { c.Sigmoid = true }),
	"sigmoid_causal": but(sixHeads, func(c *layers.AttentionConfig) {
		c.Sigmoid, c.ContextLength, c.Mask, c.NumKVHeads, c.Layout = true, 7, mask.Causal{}, 2, layers.Llama
		c.RoPE = &graph.RoPEConfig{}
	}),
	"sigmoid_cross": but(sixHeads, func(c *layers.AttentionConfig) {
		c.Sigmoid, c.SigmoidBias, c.AddZeroAttn, c.Softcap, c.NumKVHeads = true, -1.5, true, 2, 3
		c.Mask, c.Align, c.Forget = mask.Causal{Align: mask.LowerRight}, mask.LowerRight, true
	}),
	"sigmoid_padding": but(sixHeads, func(c *layers.AttentionConfig) {
		c.Sigmoid, c.SigmoidBias, c.ALiBi, c.Align = true, -2, true, mask.LowerRight
	}),
	"forget": but(sixHeads, func(c *layers.AttentionConfig) { c.Forget, c.Mask = true, mask.Causal{} }),
	"forget_grouped": but(sixHeads, func(c *layers.AttentionConfig) {
		c.Forget, c.Mask, c.Layout, c.NumKVHeads = true, mask.Causal{}, layers.Llama, 2
		c.RoPE, c.QKNorm = &graph.RoPEConfig{}, layers.RMSNorm
	}),
	"forget_cross": but(sixHeads, func(c *layers.AttentionConfig) {
		c.Forget, c.Align, c.Mask = true, mask.LowerRight, mask.Causal{Align: mask.LowerRight}
		c.KDim, c.VDim, c.QKVBias, c.Sinks = 13, 3, true, true
	}),
	"forget_padding": but(sixHeads, func(c *layers.AttentionConfig) {
		c.Forget, c.Align, c.Mask = true, mask.LowerRight, mask.Causal{Align: mask.LowerRight}
		c.AddBiasKV, c.Softcap = true, 2
	}),
}

func mhaBoth() layers.AttentionConfig {
	return but(mha, func(c *layers.AttentionConfig) { c.AddBiasKV, c.AddZeroAttn = true, true })
}
