package gradcases

import (
	"encoding/json"
	"slices"

	"attention/graph"
	"attention/graph/gradcases"
	"attention/graph/mask"
	"attention/layers"
)

// Attention is a config of an Attention, how it is called, and what does not hold for it. The tests of layers and of
// layers/heads walk all rows of Attentions by each property.
type Attention struct {
	About  string
	Config layers.AttentionConfig
	inputs []gradcases.Input // the query, and by their names what else there is

	// Texts in the errors for a cache, for rows that texts share, and for JSON; empty if the layer supports it.
	Cache, Packed, JSON string
}

// The reasons that rows share.
const (
	open   = "mask: got none with a cache, want one that hides later keys"
	extra  = "cache: got one with AddBiasKV or AddZeroAttn"
	shares = "segments: got rows that texts share"
	narrow = "OutDim: got"
)

// Attentions returns the one table of attentions.
func Attentions() []Attention {
	return slices.Concat(ofLayouts(), selfAttention(), functions(), otherInputs())
}

// attention returns a row of x (2, 3, 5), 4 heads of width 4, a mask and settings in JSON.
func attention(about string, m mask.Mask, settings string) Attention {
	a := Attention{About: about, inputs: []gradcases.Input{gradcases.Float("query", 2, 3, 5)},
		Config: layers.AttentionConfig{EmbedDim: 5, NumHeads: 4, HeadDim: 4, Mask: m}}
	if err := json.Unmarshal([]byte(settings), &a.Config); err != nil {
		panic(about + ": " + err.Error())
	}
	return a
}

// ofLayouts returns the rows of all layouts, and of those whose heads share keys.
func ofLayouts() (rows []Attention) {
	for _, layout := range []string{"book", "torch", "gpt2", "llama", "per_head"} {
		rows = append(rows, attention(layout, mask.Causal{}, `{"qkv_bias": true, "out_bias": true, "scale": 3, "layout": "`+layout+`"}`))
		if layout != "per_head" {
			rows = append(rows, attention(layout+", grouped", mask.Causal{}, `{"num_kv_heads": 2, "value_dim": 3, "layout": "`+layout+`"}`))
		}
	}
	raw := attention("raw", mask.Causal{}, `{"layout": "raw", "context_only": true}`)
	grouped := attention("raw, grouped", mask.Causal{}, `{"layout": "raw", "context_only": true, "num_kv_heads": 2}`)
	raw.Packed, grouped.Packed = narrow, narrow
	return append(rows, raw, grouped)
}

// selfAttention returns the rows of x alone, whose settings have JSON.
func selfAttention() (rows []Attention) {
	for _, r := range []struct{ about, settings, cache, packed string }{
		{"rope, two of four dims", `{"rope": {"dims": 2}}`, "", ""},
		{"rope, linear", `{"rope": {"base": 500, "scaling": "linear", "factor": 3}}`, "", ""},
		{"rope, ntk", `{"rope": {"scaling": "ntk", "factor": 3}}`, "", ""},
		{"rope, llama3", `{"rope": {"scaling": "llama3", "factor": 4, "original_max_position_embeddings": 9}}`, "", ""},
		{"rope, yarn", `{"rope": {"base": 50, "scaling": "yarn", "factor": 4,
			"original_max_position_embeddings": 90}}`, "", ""},
		{"alibi", `{"alibi": true}`, "", ""},
		{"t5, capped", `{"softcap": 2, "relative_bias": {"buckets": 6, "max_distance": 7, "unidirectional": true}}`, "", ""},
		{"rms norm, sinks, gate", `{"layout": "gpt2", "qk_norm": "rms", "sinks": true, "gate": true}`, "", ""},
		{"llama, rope, rms norm, grouped", `{"layout": "llama", "num_kv_heads": 2, "rope": {}, "qk_norm": "rms"}`, "", ""},
		{"llama, rms norm of whole rows, grouped", `{"layout": "llama", "num_kv_heads": 2, "rope": {}, "qk_norm": "rms",
			"qk_norm_whole": true}`, "", ""},
		{"llama, rms norm by 1 + weight, window", `{"layout": "llama", "num_kv_heads": 2, "qk_norm": "rms",
			"qk_norm_offset": true, "mask": {"type": "sliding_window", "left": 1, "right": 0}}`, "", ""},
		{"l2 norm", `{"qk_norm": "l2", "scale": 3}`, "", ""},
		{"softcap, window", `{"softcap": 0.7, "mask": {"type": "sliding_window", "left": 4, "right": 0}}`, "", ""},
		{"behind, grouped", `{"num_kv_heads": 2, "mask": {"type": "causal", "offset": -2}}`, "", ""},
		{"capped, sinks, alibi", `{"softcap": 2, "sinks": true, "alibi": true}`, "", ""},
		{"sigmoid, dropout", `{"sigmoid": true, "context_length": 40, "dropout": 0.3}`, "", ""},
		{"sigmoid with a bias, forget", `{"layout": "gpt2", "sigmoid": true, "sigmoid_bias": -1, "forget": true}`, "", ""},
		{"forget, grouped", `{"layout": "torch", "forget": true, "num_kv_heads": 2}`, "", ""},
		{"gpt2, sparse, grouped, dropout", `{"layout": "gpt2", "num_kv_heads": 2, "dropout": 0.3,
			"sparse": {"block_size": 2, "blocks": 2}}`, "", shares},
		{"llama, sparse, rope", `{"layout": "llama", "sparse": {"block_size": 4, "blocks": 2}, "rope": {}}`, "", shares},
		{"llama, differential, rope, grouped", `{"layout": "llama", "num_kv_heads": 2, "differential": {}, "rope": {}}`, "", ""},
		{"all", `{"num_kv_heads": 2, "forget": true, "alibi": true, "sinks": true, "qk_norm": "l2", "softcap": 5,
			"rope": {"interleaved": true}, "relative_bias": {"buckets": 8}}`, "", ""},
		{"latents", `{"head_dim": 0, "latent": {"kv_lora_rank": 5, "qk_nope_head_dim": 3, "qk_rope_head_dim": 2,
			"v_head_dim": 7}}`, "", ""},
		{"latents, low-rank queries, dropouts", `{"head_dim": 0, "dropout": 0.4, "context_dropout": 0.2, "out_dropout": 0.1,
			"latent": {"q_lora_rank": 4, "qk_nope_head_dim": 3}}`, "", ""},
		{"latents, all", `{"head_dim": 0, "latent": {"kv_lora_rank": 5, "qk_nope_head_dim": 3, "qk_rope_head_dim": 4},
			"forget": true, "alibi": true, "sinks": true, "gate": true, "softcap": 5, "out_bias": true,
			"relative_bias": {"buckets": 8}}`, "", ""},
		{"latents, sparse", `{"head_dim": 0, "latent": {"qk_nope_head_dim": 4}, "sparse": {"block_size": 4, "blocks": 2}}`,
			"", shares},
		{"latents, low-rank queries, gate, forget, added key", `{"head_dim": 0, "latent": {"q_lora_rank": 4,
			"qk_nope_head_dim": 3}, "gate": true, "forget": true, "add_bias_kv": true}`, extra, shares},
		{"gpt2, dropouts", `{"layout": "gpt2", "dropout": 0.3, "context_dropout": 0.25, "out_dropout": 0.1}`, "", ""},
		{"added keys", `{"add_bias_kv": true, "add_zero_attn": true}`, extra, shares},
		{"added key, forget, grouped", `{"add_bias_kv": true, "forget": true, "num_kv_heads": 2}`, extra, shares},
		{"added keys, window or prefix", `{"add_bias_kv": true, "add_zero_attn": true, "mask": {"type": "or", "of": [
			{"type": "sliding_window", "left": 2, "right": 0}, {"type": "prefix", "n": 1}]}}`, extra, shares},
		{"prefix", `{"mask": {"type": "or", "of": [{"type": "causal"}, {"type": "prefix", "n": 2}]}}`, "", shares},
	} {
		a := attention(r.about, mask.Causal{}, r.settings)
		a.Cache, a.Packed = r.cache, r.packed
		rows = append(rows, a)
	}
	one, text := attention("T=1, S=1, sinks", mask.Causal{}, `{"sinks": true}`), attention("(T, E), no mask", nil, `{}`)
	one.inputs[0], text.inputs[0], text.Cache = gradcases.Float("query", 1, 5), gradcases.Float("query", 3, 5), open
	return append(rows, one, text)
}

// functions returns the rows with Go functions, which have no JSON.
func functions() []Attention {
	shown, scored := attention("a mask's function", nil, `{}`), attention("a function of scores", mask.Causal{}, `{}`)
	shown.Config.Mask = mask.And(mask.Causal{}, mask.Func{Visible: func(b, h, t, s int) bool { return (t-s+h+b)%3 != 1 }})
	scored.Config.Score = &graph.ScoreFunc{
		Score: func(x float64, b, h, t, s int) float64 { return x * float64(1+b+h) / float64(2+t-s) },
		Slope: func(x float64, b, h, t, s int) float64 { return float64(1+b+h) / float64(2+t-s) },
	}
	shown.JSON, scored.JSON = "which has no JSON", "which has no JSON"
	shown.Packed, scored.Packed = shares, shares
	return []Attention{shown, scored}
}

// otherInputs returns the rows that are called with more than x.
func otherInputs() (rows []Attention) {
	type inputs = []gradcases.Input
	key := gradcases.Float("key", 2, 7, 5)
	for _, r := range []struct {
		about, settings string
		inputs          inputs
	}{
		{"torch, keys and values of other widths, grouped",
			`{"layout": "torch", "num_kv_heads": 2, "value_dim": 2, "qkv_bias": true, "out_bias": true, "kdim": 2, "vdim": 3,
				"out_dim": 7}`,
			inputs{gradcases.Float("key", 2, 7, 2), gradcases.Float("value", 2, 7, 3)}},
		{"torch, added keys, padding", `{"layout": "torch", "qkv_bias": true, "add_bias_kv": true, "add_zero_attn": true}`,
			inputs{key, gradcases.IDs("lengths", []int{0, 4}, 2)}},
		{"gpt2, key and value", `{"layout": "gpt2", "qkv_bias": true}`, inputs{key}}, // they cut the packed product
		{"l2 norm of whole rows by 1 + weight, key", `{"qk_norm": "l2", "qk_norm_whole": true, "qk_norm_offset": true}`,
			inputs{key}},
		{"interleaved rope in part, positions, l2 norm", `{"rope": {"dims": 2, "interleaved": true}, "qk_norm": "l2"}`,
			inputs{key, gradcases.IDs("positions", []int{3, -1, 7}, 3),
				gradcases.IDs("key_positions", []int{2, 7, 1, 8, -2, 8, 1}, 7)}},
		{"three biases", `{"align": "lower_right", "alibi": true, "relative_bias": {"buckets": 6, "max_distance": 3}}`,
			inputs{key, gradcases.Float("bias", 4, 3, 7)}},
		{"softcap, window, gate, sinks, key", `{"softcap": 0.7, "gate": true, "sinks": true,
			"mask": {"type": "sliding_window", "left": 1, "right": 1, "align": "upper_left"}}`, inputs{key}},
		{"forget, lower right, added key", `{"forget": true, "align": "lower_right", "add_bias_kv": true, "sinks": true,
			"mask": {"type": "causal", "align": "lower_right"}}`, inputs{key}},
		{"llama, differential, grouped, dropout, gate", `{"layout": "llama", "num_kv_heads": 2, "value_dim": 3,
			"mask": {"type": "causal", "align": "lower_right"}, "dropout": 0.3, "gate": true, "differential": {}}`, inputs{key}},
		{"segments", `{}`, inputs{gradcases.IDs("segments", []int{1, 2, 1, 3, 3, 3}, 2, 3)}},
	} {
		a := attention(r.about, nil, r.settings)
		a.inputs = append(a.inputs, r.inputs...)
		rows = append(rows, a)
	}
	return rows
}
