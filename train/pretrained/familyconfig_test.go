package pretrained_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// windows returns the window of each layer, including the query's own position; 0 means no window.
func windows(c layers.DecoderConfig) any {
	var all []int
	for i := range c.NumLayers {
		w, ok := c.Block(i).Attention.Mask.(mask.SlidingWindow)
		all = append(all, w.Left)
		if ok {
			all[i]++
		}
	}
	return all
}

// layersTurned returns whether each layer has rotary positions.
func layersTurned(c layers.DecoderConfig) any {
	var all []bool
	for i := range c.NumLayers {
		all = append(all, c.Block(i).Attention.RoPE != nil)
	}
	return all
}

// base returns the base of the positions of the last layer.
func base(c layers.DecoderConfig) any { return c.Block(c.NumLayers - 1).Attention.RoPE.Base }

func headDim(c layers.DecoderConfig) any { return c.Blocks[0].Attention.HeadDim }
func kvHeads(c layers.DecoderConfig) any { return c.Blocks[0].Attention.NumKVHeads }
func tied(c layers.DecoderConfig) any    { return c.TieWordEmbeddings }

// A key that is left out means the default of transformers, and null means something else.
func TestAbsentKeys(t *testing.T) {
	many := func(n int, all ...int) []int { return slices.Repeat(all, n)[:n] }
	for _, row := range []struct {
		name    string
		of      string
		without []string
		with    fields
		get     func(c layers.DecoderConfig) any
		want    any
	}{
		{"Mistral's window", "mistral", []string{"sliding_window"}, nil, windows, []int{4096, 4096}},
		{"no window", "mistral", nil, fields{"sliding_window": nil}, windows, []int{0, 0}},
		{"a window that is not used", "qwen2", nil, fields{"max_window_layers": 0}, windows, []int{0, 0}},
		{"from a layer on", "qwen2", nil, fields{"max_window_layers": 1, "use_sliding_window": true}, windows,
			[]int{0, 3}},
		{"types of layers come first", "qwen2", nil, fields{"max_window_layers": 0, "use_sliding_window": true,
			"layer_types": []string{"sliding_attention", "full_attention"}}, windows, []int{3, 0}},
		{"SmolLM 3's window", "smollm3_window", []string{"layer_types", "no_rope_layer_interval"},
			fields{"num_hidden_layers": 9}, windows, many(9, 0, 0, 0, 3)},
		{"SmolLM 3's list", "smollm3_window", []string{"layer_types"}, fields{"no_rope_layers": []int{0, 1, 1}}, windows,
			[]int{3, 0, 0}},
		{"SmolLM 3's positions", "smollm3", []string{"no_rope_layers", "no_rope_layer_interval"},
			fields{"num_hidden_layers": 5, "layer_types": nil}, layersTurned, []bool{true, true, true, false, true}},
		{"SmolLM 3's base", "smollm3", []string{"rope_theta"}, nil, base, 2e6},
		{"Gemma 3's windows", "gemma3", []string{"sliding_window_pattern"}, fields{"num_hidden_layers": 13}, windows,
			many(13, 3, 3, 3, 3, 3, 0)},
		{"Gemma 3's base", "gemma3", []string{"rope_theta"}, fields{"num_hidden_layers": 3}, base, 1e6},
		{"Gemma 3's local base", "gemma3", []string{"rope_local_base_freq"}, nil, base, 1e4},
		{"Gemma 2's windows", "gemma2", []string{"sliding_window"}, fields{"num_hidden_layers": 3}, windows,
			[]int{4096, 0, 4096}},
		{"Gemma 2's caps", "gemma2", []string{"attn_logit_softcapping", "final_logit_softcapping"}, nil,
			func(c layers.DecoderConfig) any { return [2]float64{c.LogitSoftcap, c.Blocks[0].Attention.Softcap} },
			[2]float64{30, 50}},
		{"Gemma's scale of scores", "gemma2", []string{"query_pre_attn_scalar"}, nil,
			func(c layers.DecoderConfig) any { return c.Blocks[0].Attention.Scale }, 1.0 / 16},
		{"Qwen 3's heads", "qwen3", []string{"head_dim"}, nil, headDim, 128},
		{"heads of the width", "qwen3", nil, fields{"head_dim": nil}, headDim, 4},
		{"as many heads of keys", "llama", []string{"num_key_value_heads"}, nil, kvHeads, 3},
		{"Mistral's heads of keys", "mistral", []string{"num_key_value_heads"}, fields{"num_attention_heads": 16}, kvHeads, 8},
		{"GPT-NeoX's part of a head", "gpt_neox", []string{"rotary_pct"}, fields{"hidden_size": 24},
			func(c layers.DecoderConfig) any { return c.Blocks[0].Attention.RoPE.Dims }, 2},
		{"whole heads", "llama", nil, fields{"rope_scaling": nil, "rope_parameters": fields{"partial_rotary_factor": 0.5}},
			func(c layers.DecoderConfig) any { return *c.Blocks[0].Attention.RoPE }, graph.RoPEConfig{Base: 10000}},
		{"dynamic positions", "llama", nil, fields{"rope_scaling": fields{"type": "dynamic", "factor": 4.0}},
			func(c layers.DecoderConfig) any { return *c.Blocks[0].Attention.RoPE }, graph.RoPEConfig{Base: 10000}},
		{"GPT-NeoX's odd part of a head", "gpt_neox", nil, fields{"rotary_pct": 0.75, "rotary_emb_base": 1e3},
			func(c layers.DecoderConfig) any { return math.Round(base(c).(float64)) }, 1e4}, // 1000^(4/3)
		{"GPT-NeoX is parallel", "gpt_neox", []string{"use_parallel_residual"}, nil,
			func(c layers.DecoderConfig) any { return c.Blocks[0].Parallel }, true},
		{"OLMo 2's epsilon", "olmo2", []string{"rms_norm_eps"}, nil,
			func(c layers.DecoderConfig) any { return c.Blocks[0].Norm.Eps }, 1e-5},
		{"Llama's head", "llama", []string{"tie_word_embeddings"}, nil, tied, false},
		{"SmolLM 3's head", "smollm3", []string{"tie_word_embeddings"}, nil, tied, true},
		{"Gemma's head", "gemma3", []string{"tie_word_embeddings"}, nil, tied, true},
		{"Qwen's head", "qwen3", []string{"tie_word_embeddings"}, nil, tied, false},
	} {
		config := configOf(t, row.of).with(row.with)
		for _, key := range row.without {
			require.Contains(t, config, key, row.name)
			delete(config, key)
		}
		text, err := json.Marshal(config)
		require.NoError(t, err)
		f, err := pretrained.Parse("dir", text)
		require.NoError(t, err, row.name)
		require.Equal(t, row.want, row.get(f.Config()), row.name)
	}
}
