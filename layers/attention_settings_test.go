package layers_test

import (
	"encoding/json"
	"strings"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"
)

// with returns a config after changes given in JSON.
func with[C any](c C, changes string) C {
	if err := json.Unmarshal([]byte(changes), &c); err != nil {
		panic(err)
	}
	return c
}

// having returns c with changes.
func having(c layers.AttentionConfig, change func(c *layers.AttentionConfig)) layers.AttentionConfig {
	change(&c)
	return c
}

// The configs of testdata/torch/attention.py; torch has modules only for the first three.
var (
	mha       = layers.AttentionConfig{EmbedDim: 6, NumHeads: 3, QKVBias: true, OutBias: true, Layout: layers.Torch}
	mhaPlain  = layers.AttentionConfig{EmbedDim: 6, NumHeads: 3, Layout: layers.Torch}
	mhaWidths = layers.AttentionConfig{EmbedDim: 6, KDim: 11, VDim: 13, NumHeads: 3,
		QKVBias: true, OutBias: true, Layout: layers.Torch}

	sixHeads   = layers.AttentionConfig{EmbedDim: 11, NumHeads: 6, HeadDim: 4}
	lowerRight = with(sixHeads, `{"align": "lower_right", "mask": {"type": "causal", "align": "lower_right"}}`)
	gpt2       = layers.AttentionConfig{EmbedDim: 12, NumHeads: 3, HeadDim: 4,
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

// attentionCases returns the cases of testdata/torch/attention.py: the names, a config and its change in JSON.
func attentionCases() map[string]layers.AttentionConfig {
	all := map[string]layers.AttentionConfig{}
	for _, row := range []struct {
		names  string
		base   layers.AttentionConfig
		change string
	}{
		{"mha_self", mha, `{"embed_dim": 15}`},
		{"mha_no_bias", mhaPlain, `{}`},
		{"mha_one_head", mha, `{"embed_dim": 7, "num_heads": 1}`},
		{"mha_sequence_first mha_unbatched mha_cross mha_cross_three mha_cross_value mha_holes", mha, `{}`},
		{"mha_bool_mask mha_bool_masks mha_float_mask mha_float_masks mha_infinite_mask mha_float_mask_padding", mha, `{}`},
		{"mha_padding mha_unbatched_padding", mha, `{}`},
		{"mha_widths", mhaWidths, `{}`},
		{"mha_widths_no_bias", mhaWidths, `{"qkv_bias": false, "out_bias": false}`},
		{"mha_key_width", mha, `{"kdim": 11}`},
		{"mha_widths_bias_kv", mhaWidths, `{"add_bias_kv": true}`},
		{"mha_bias_kv", mha, `{"add_bias_kv": true}`},
		{"mha_zero_attn", mhaPlain, `{"add_zero_attn": true}`},
		{"mha_both mha_both_masked mha_both_all_hidden mha_both_float_mask", mha, `{"add_bias_kv": true,
			"add_zero_attn": true}`},
		{"mha_causal mha_causal_padding", mha, `{"mask": {"type": "causal"}}`},
		{"mha_causal_upper_left", mha, `{"mask": {"type": "causal", "align": "upper_left"}}`},
		{"grouped causal_starts", sixHeads, `{"num_kv_heads": 2}`},
		{"multi_query", sixHeads, `{"num_kv_heads": 1, "qkv_bias": true}`},
		{"grouped_cross", sixHeads, `{"num_kv_heads": 3, "mask": {"type": "causal", "align": "upper_left"}}`},
		{"sizes", sixHeads, `{"kdim": 13, "vdim": 3, "out_dim": 17, "num_heads": 3, "head_dim": 5, "value_dim": 7,
			"qkv_bias": true, "out_bias": true}`},
		{"value_dim", sixHeads, `{"num_kv_heads": 2, "value_dim": 3}`},
		{"scale", sixHeads, `{"scale": 0.71}`},
		{"softcap", sixHeads, `{"softcap": 1.5}`},
		{"rope rope_positions rope_cross_positions", sixHeads, `{"rope": {}}`},
		{"rope_interleaved", sixHeads, `{"rope": {"interleaved": true, "base": 500}}`},
		{"rope_part", sixHeads, `{"head_dim": 7, "num_kv_heads": 2, "rope": {"dims": 4}}`},
		{"rope_cross", sixHeads, `{"rope": {}, "align": "upper_left"}`},
		{"rope_cross_lower_right", sixHeads, `{"rope": {"interleaved": true}, "align": "lower_right"}`},
		{"alibi", sixHeads, `{"alibi": true}`},
		{"alibi_causal_cross", lowerRight, `{"alibi": true}`},
		{"t5", sixHeads, `{"relative_bias": {"buckets": 8, "max_distance": 4}}`},
		{"t5_decoder", lowerRight, `{"relative_bias": {"buckets": 5, "max_distance": 4, "unidirectional": true}}`},
		{"alibi_t5", sixHeads, `{"alibi": true, "relative_bias": {"buckets": 6}}`},
		{"window", sixHeads, `{"mask": {"type": "sliding_window", "left": 2, "right": 0}}`},
		{"window_both", sixHeads, `{"mask": {"type": "sliding_window", "left": 2, "right": 1,
			"align": "lower_right"}}`},
		{"prefix", sixHeads, `{"mask": {"type": "or", "of": [{"type": "causal"}, {"type": "prefix", "n": 3}]}}`},
		{"segments segments_cross causal_starts_padding", sixHeads, `{}`},
		{"segments_causal renormalized", sixHeads, `{"mask": {"type": "causal"}}`},
		{"sinks", sixHeads, `{"sinks": true}`},
		{"sinks_causal", sixHeads, `{"num_kv_heads": 2, "sinks": true, "mask": {"type": "causal"}}`},
		{"norm_rms", sixHeads, `{"qk_norm": "rms"}`},
		{"norm_l2", sixHeads, `{"num_kv_heads": 2, "qk_norm": "l2", "scale": 3}`},
		{"gate", sixHeads, `{"gate": true, "value_dim": 3, "out_bias": true}`},
		{"bias_kv_grouped", sixHeads, `{"num_kv_heads": 2, "value_dim": 3, "add_bias_kv": true,
			"add_zero_attn": true, "mask": {"type": "causal", "align": "upper_left"}}`},
		{"gpt2", gpt2, `{"mask": {"type": "causal"}}`},
		{"gpt2_no_bias", sixHeads, `{"num_heads": 3, "num_kv_heads": 1, "value_dim": 3, "out_dim": 7,
			"layout": "gpt2"}`},
		{"gpt2_cross", gpt2, `{}`},
		{"llama", llama, `{"embed_dim": 12, "head_dim": 0}`},
		{"llama_bias", sixHeads, `{"kdim": 13, "vdim": 3, "num_heads": 3, "head_dim": 5, "qkv_bias": true,
			"out_bias": true, "layout": "llama"}`},
		{"qwen", llama, `{"num_kv_heads": 3, "rope": {"base": 1e6}, "qk_norm": "rms"}`},
		{"gemma", llama, `{"softcap": 2, "scale": 0.4, "mask": {"type": "sliding_window", "left": 2, "right": 0}}`},
		{"oss", llama, `{"sinks": true, "qkv_bias": true, "out_bias": true, "mask": {"type": "sliding_window",
			"left": 1, "right": 0}}`},
		{"everything", everything, `{}`},
		{"everything_llama", everything, `{"layout": "llama", "qk_norm": "l2", "num_kv_heads": 3,
			"rope": {"interleaved": true}, "relative_bias": {"unidirectional": true}}`},
		{"everything_gpt2", everything, `{"layout": "gpt2", "kdim": 0, "vdim": 0}`},
		{"causal_offset", sixHeads, `{"num_kv_heads": 2, "mask": {"type": "causal", "offset": 2}}`},
		{"causal_offset_ahead", sixHeads, `{"mask": {"type": "causal", "offset": 3}}`},
		{"causal_offset_blind", sixHeads, `{"num_kv_heads": 3, "qkv_bias": true, "mask": {"type": "causal",
			"align": "upper_left", "offset": -2}}`},
		{"causal_offset_past", llama, `{"align": "lower_right", "mask": {"type": "causal", "offset": 2}}`},
		{"sigmoid", sixHeads, `{"sigmoid": true}`},
		{"sigmoid_causal", llama, `{"sigmoid": true, "context_length": 7}`},
		{"sigmoid_cross", lowerRight, `{"sigmoid": true, "sigmoid_bias": -1.5, "add_zero_attn": true, "softcap": 2,
			"num_kv_heads": 3, "forget": true}`},
		{"sigmoid_padding", sixHeads, `{"sigmoid": true, "sigmoid_bias": -2, "alibi": true, "align": "lower_right"}`},
		{"forget", sixHeads, `{"forget": true, "mask": {"type": "causal"}}`},
		{"forget_grouped", llama, `{"forget": true, "qk_norm": "rms"}`},
		{"forget_cross", lowerRight, `{"forget": true, "kdim": 13, "vdim": 3, "qkv_bias": true, "sinks": true}`},
		{"forget_padding", lowerRight, `{"forget": true, "add_bias_kv": true, "softcap": 2}`},
	} {
		for name := range strings.FieldsSeq(row.names) {
			all[name] = with(row.base, row.change)
		}
	}
	return all
}
