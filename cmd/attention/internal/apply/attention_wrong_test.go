package apply

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestApplyAttentionWrongTensors uses the files of attention_inputs: B 2, T 5, S 7,
// H 3, d_in 6.
func TestApplyAttentionWrongTensors(t *testing.T) {
	const scores = "want one axis or more that broadcast to (B, H, T, S) = (2, 3, 5, 7)"
	zeros := func(n int) []float32 { return make([]float32, n) }
	for want, spoil := range map[string]func(c *wrongCall){
		`"x": unknown, want it by the name query, which is key and value too if there are none`: func(c *wrongCall) {
			c.tensor(c.input, "query", nil, nil)
			c.tensor(c.input, "x", []int{2, 5, 6}, zeros(60))
		},
		`"query": shape (2, 5, 7), want (T, 6) or (B, T, 6) with every axis at least 1`: func(c *wrongCall) { c.tensor(c.input, "query", []int{2, 5, 7}, zeros(70)) },
		`"query": dtype I32, want F64, F32, F16 or BF16`:                                func(c *wrongCall) { c.tensor(c.input, "query", []int{2, 5, 6}, make([]int32, 60)) },
		`"key": shape (7, 6), want as many axes and the same B as query, which is (2, 5, 6)`: func(c *wrongCall) {
			c.tensor(c.input, "key", []int{7, 6}, zeros(42))
		},
		`"value": shape (2, 6, 6), want as many rows as key, which is (2, 7, 6)`: func(c *wrongCall) { c.tensor(c.input, "value", []int{2, 6, 6}, zeros(72)) },
		`"value": shape (3, 7, 6), want as many axes and the same B as query, which is (2, 5, 6)`: func(c *wrongCall) {
			c.tensor(c.input, "value", []int{3, 7, 6}, zeros(126))
		},
		`"keep": shape (2, 7), ` + scores:          func(c *wrongCall) { c.tensor(c.input, "keep", []int{2, 7}, zeros(14)) },
		`"keep": shape (), ` + scores:              func(c *wrongCall) { c.tensor(c.input, "keep", nil, zeros(1)) },
		`"keep": shape (0), ` + scores:             func(c *wrongCall) { c.tensor(c.input, "keep", []int{0}, zeros(0)) },
		`"keep": shape (1, 1, 1, 1, 7), ` + scores: func(c *wrongCall) { c.tensor(c.input, "keep", []int{1, 1, 1, 1, 7}, zeros(7)) },
		`"keep": got 2 at element 3, want 0 or 1`:  func(c *wrongCall) { c.tensor(c.input, "keep", []int{7}, []uint8{0, 1, 1, 2, 0, 0, 1}) },
		`"keep": got 0.5 at element 0, want 0 or 1`: func(c *wrongCall) {
			c.tensor(c.input, "keep", []int{1}, []float64{0.5})
		},
		`"keep": got NaN at element 0, want 0 or 1`: func(c *wrongCall) { c.tensor(c.input, "keep", []int{1}, []float32{float32(math.NaN())}) },
		`"keep": got 4294967297 at element 0, want 0 or 1`: func(c *wrongCall) {
			c.tensor(c.input, "keep", []int{1}, []int64{1<<32 + 1})
		},
		`"lengths": shape (1), want (B) = (2)`:                 func(c *wrongCall) { c.tensor(c.input, "lengths", []int{1}, []int64{1}) },
		`"lengths": got 8 at element 1, want 0 to S=7`:         func(c *wrongCall) { c.tensor(c.input, "lengths", []int{2}, []int64{7, 8}) },
		`"lengths": got -1 at element 0, want 0 to S=7`:        func(c *wrongCall) { c.tensor(c.input, "lengths", []int{2}, []int8{-1, 8}) },
		`"lengths": dtype F32, want I64, I32, I16, I8 or U8`:   func(c *wrongCall) { c.tensor(c.input, "lengths", []int{2}, zeros(2)) },
		`"segments": dtype BOOL, want I64, I32, I16, I8 or U8`: func(c *wrongCall) { c.tensor(c.input, "segments", []int{2, 5}, make([]bool, 10)) },
		`"segments": shape (2, 7), want (B, T) = (2, 5)`:       func(c *wrongCall) { c.tensor(c.input, "segments", []int{2, 7}, make([]int32, 14)) },
		`"segments": missing, want it besides key_segments`:    func(c *wrongCall) { c.tensor(c.input, "segments", nil, nil) },
		`"key_segments": missing, want it besides segments with S=7 keys for T=5 queries`: func(c *wrongCall) {
			c.tensor(c.input, "key_segments", nil, nil)
		},
		`"key_segments": shape (2, 5), want (B, S) = (2, 7)`: func(c *wrongCall) { c.tensor(c.input, "key_segments", []int{2, 5}, make([]int32, 10)) },
		`"bias": shape (3, 5, 5), ` + scores:                 func(c *wrongCall) { c.tensor(c.input, "bias", []int{3, 5, 5}, zeros(75)) },
		`"bias": dtype I64, want F64, F32, F16 or BF16`:      func(c *wrongCall) { c.tensor(c.input, "bias", []int{7}, make([]int64, 7)) },
		`"positions": shape (7), want (T) = (5) or (B, T) = (2, 5)`: func(c *wrongCall) {
			c.tensor(c.input, "positions", []int{7}, make([]int64, 7))
		},
		`"key_positions": dtype F64, want I64, I32, I16, I8 or U8`: func(c *wrongCall) { c.tensor(c.input, "key_positions", []int{7}, make([]float64, 7)) },
		`"key_positions": got it without rope in layer.json, which alone uses positions`: func(c *wrongCall) {
			c.config = c.file("plain.json",
				`{"layer": "attention", "d_in": 6, "d_out": 5, "num_heads": 3, "head_dim": 6, "qkv_bias": true}`)
			c.tensor(c.input, "positions", nil, nil)
		},
		`"grad_output": shape (2, 5, 6), want (2, 5, 5) as the output`: func(c *wrongCall) { c.tensor(c.input, "grad_output", []int{2, 5, 6}, zeros(60)) },
		`"grad_output": dtype I8, want F64, F32, F16 or BF16`:          func(c *wrongCall) { c.tensor(c.input, "grad_output", []int{2, 5, 5}, make([]int8, 50)) },
	} {
		c := newWrongCallOf(t, "attention_inputs")
		spoil(c)
		require.Equal(t, "apply: in.safetensors: tensor "+want, c.message())
	}
}

// TestApplyWithoutPlace: the place of the queries among the keys must be given if it
// matters. T is 5 and S 7.
func TestApplyWithoutPlace(t *testing.T) {
	const open = `in.safetensors: tensor "key": got T=5 and S=7, want T = S or an alignment, upper_left or lower_right (align in layer.json)`
	for fields, want := range map[string]string{
		`"window": [1, 1]`:                  open,
		`"alibi": true`:                     open,
		`"relative_bias": {}`:               open,
		`"rope": {}`:                        open,
		`"rope": {}, "align": "upper_left"`: "",
		`"mask": {"type": "not", "of": {"type": "causal"}}`:  open,
		`"mask": {"type": "causal", "align": "lower_right"}`: "",
		`"mask": {"type": "prefix", "n": 2}`:                 "",
		`"causal": "lower_right", "d_out": 6, "k_dim": 6`:    "",
	} {
		c := newWrongCallOf(t, "attention_gpt2_prefix")
		c.text(`{"layer": "attention", "layout": "gpt2", "d_in": 6, "head_dim": 2, "num_heads": 3, ` + fields + `}`)
		if strings.Contains(fields, "relative_bias") {
			c.tensor(c.weights, "relative_attention_bias.weight", []int{32, 3}, make([]float32, 96))
		}
		if want == "" {
			_, err := c.run(t)
			require.NoError(t, err)
			continue
		}
		require.Equal(t, "apply: "+want, c.message(), fields)
	}
	c := newWrongCallOf(t, "attention_gpt2_prefix")
	c.tensor(c.input, "key", []int{2, 3, 6}, make([]float32, 36))
	require.Equal(t, `apply: in.safetensors: tensor "key": got T=5 and S=3 with lower_right, want S ≥ T (align in layer.json)`, c.message())
}

// TestApplyAttentionWrongNames: the error lists all missing, all unknown and all known
// names.
func TestApplyAttentionWrongNames(t *testing.T) {
	c := newWrongCallOf(t, "attention_torch_widths")
	c.tensor(c.input, "query", nil, nil)
	c.tensor(c.input, "mask", []int{1}, []bool{true})
	require.Equal(t, `apply: in.safetensors: tensors missing: "query"; tensors unknown: "mask"; want query and optionally key, value, `+
		`keep, lengths, segments, key_segments, bias, positions, key_positions, grad_output for layer attention`, c.message())
	c = newWrongCallOf(t, "attention_torch_widths")
	c.tensor(c.weights, "in_proj_weight", []int{18, 6}, make([]float32, 108))
	c.tensor(c.weights, "bias_k", nil, nil)
	require.Equal(t, `apply: w.safetensors: tensors missing: "bias_k"; tensors unknown: "in_proj_weight"; want out_proj.weight, out_proj.bias, `+
		`q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias, bias_k, bias_v for layer attention`, c.message())
	c = newWrongCallOf(t, "attention_gpt2")
	c.tensor(c.weights, "c_attn.weight", []int{18, 6}, make([]float32, 108))
	require.Equal(t, `apply: w.safetensors: tensor "c_attn.weight": shape (18, 6), want (6, 18)`, c.message())
	c = newWrongCallOf(t, "attention_gpt2")
	c.text(`{"layer": "attention", "layout": "gpt2", "d_in": 6, "num_heads": 3, "qkv_bias": true, "out_bias": true, "context_length": 6}`)
	require.Equal(t, `apply: in.safetensors: tensor "query": shape (2, 7, 6), want (T <= 6, 6) or (B, T <= 6, 6) with every axis at least 1`, c.message())
	c = newWrongCallOf(t, "attention_gpt2_prefix")
	c.text(`{"layer": "attention", "layout": "gpt2", "d_in": 6, "num_heads": 3, "context_length": 6}`)
	require.Equal(t, `apply: in.safetensors: tensor "key": shape (2, 7, 6), want (S <= 6, 6) or (B, S <= 6, 6) with every axis at least 1`, c.message())
}

// TestApplyMissingValue: the replacement of a missing sequence must have its width.
func TestApplyMissingValue(t *testing.T) {
	c := newWrongCallOf(t, "attention_torch_widths")
	c.tensor(c.input, "value", nil, nil)
	require.Equal(t, `apply: in.safetensors: tensor "value": missing, and key of shape (2, 7, 5) cannot stand in for it, want (S, 11) or (B, S, 11)`, c.message())
	c = newWrongCallOf(t, "attention_torch_widths")
	c.tensor(c.input, "key", nil, nil)
	require.Equal(t, `apply: in.safetensors: tensor "key": missing, and query of shape (2, 3, 6) cannot stand in for it, want (S, 5) or (B, S, 5)`, c.message())
	c = newWrongCallOf(t, "attention_renormalize")
	c.tensor(c.input, "key", nil, nil)
	require.Equal(t, `apply: in.safetensors: tensor "value": shape (2, 7, 6), want as many rows as query, which is (2, 5, 6)`, c.message())
}

// TestApplyAttentionMemory: a graph that needs too much memory is refused before any
// is allocated.
func TestApplyAttentionMemory(t *testing.T) {
	const heads, size = 16384, "want at most 2147483647 elements"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := newWrongCallOf(t, "attention")
	c.text(`{"layer": "attention", "d_in": 1, "num_heads": 16384, "head_dim": 1, "alibi": true, "add_zero_attn": true}`)
	for _, name := range []string{"W_query.weight", "W_key.weight", "W_value.weight"} {
		c.tensor(c.weights, name, []int{heads, 1}, make([]float32, heads))
	}
	c.tensor(c.weights, "out_proj.weight", []int{1, heads}, make([]float32, heads))
	c.tensor(c.input, "grad_output", nil, nil)
	c.tensor(c.input, "query", []int{300, 1}, make([]float32, 300))
	require.Equal(t, "apply: layer attention: a tensor of the computation has shape (16384, 300, 301), want at most 1073741824 elements in each", c.message())
	c.text(`{"layer": "attention", "d_in": 2147483647, "num_heads": 1}`)
	require.Equal(t, "apply: layer.json: W_query.weight: shape (2147483647, 2147483647), "+size, c.message())
	c.text(`{"layer": "attention", "d_in": 30000, "num_heads": 1}`)
	require.Equal(t, `apply: w.safetensors: tensor "W_query.weight": shape (16384, 1), want (30000, 30000)`, c.message())
	runtime.ReadMemStats(&after)
	// The biases of alibi alone would take 78 MiB in float64, the weights 27 GiB.
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20))
}
