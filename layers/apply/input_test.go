package apply

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"attention/internal/safetensors"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// wrongTensor is a tensor of the input file and the error about it. Nil removes the tensor.
type wrongTensor struct {
	name  string
	shape []int
	data  any
	want  string // after the tensor's name
}

// requireWrong requires the error of a case with each of the tensors in turn.
func requireWrong(t *testing.T, name string, rows []wrongTensor) {
	t.Helper()
	for _, row := range rows {
		c := newWrongCallOf(t, name)
		c.tensor(c.input, row.name, row.shape, row.data)
		require.Equal(t, fmt.Sprintf("in.safetensors: tensor %q: %s", row.name, row.want), c.message())
	}
}

func zeros(n int) []float32 { return make([]float32, n) }

// TestApplyWrongInput: an error about a tensor names the file and the tensor, what it got
// and what it wants. The case has B 2, T 7, embed_dim 5 and out_dim 6.
func TestApplyWrongInput(t *testing.T) {
	const x = ", want (T <= context_length=11, 5) or (B, T <= context_length=11, 5) with every axis at least 1"
	requireWrong(t, "causal_batch", []wrongTensor{
		{name: "x", shape: []int{2, 7, 4}, data: zeros(56), want: "shape (2, 7, 4)" + x},
		{name: "x", shape: []int{2, 12, 5}, data: zeros(120), want: "shape (2, 12, 5)" + x},
		{name: "x", shape: []int{5}, data: zeros(5), want: "shape (5)" + x},
		{name: "x", data: zeros(1), want: "shape ()" + x},
		{name: "x", shape: []int{1, 1, 7, 5}, data: zeros(35), want: "shape (1, 1, 7, 5)" + x},
		{name: "x", shape: []int{0, 7, 5}, data: zeros(0), want: "shape (0, 7, 5)" + x},
		{name: "x", shape: []int{2, 0, 5}, data: zeros(0), want: "shape (2, 0, 5)" + x},
		{name: "x", shape: []int{2, 7, 5}, data: make([]bool, 70), want: "dtype BOOL, want F64, F32, F16 or BF16"},
		{name: "grad_output", shape: []int{2, 7, 5}, data: zeros(70), want: "shape (2, 7, 5), want (2, 7, 6) as the output"},
		{name: "grad_output", data: zeros(1), want: "shape (), want (2, 7, 6) as the output"},
		{name: "grad_output", shape: []int{2, 7, 6}, data: make([]uint8, 84), want: "dtype U8, want F64, F32, F16 or BF16"},
	})
}

// TestApplySimpleWrongInput: the layer simple takes any width, or the width of its config.
func TestApplySimpleWrongInput(t *testing.T) {
	for _, row := range []struct {
		config string
		shape  []int
		want   string
	}{
		{config: `{"layer": "simple", "embed_dim": 5}`, shape: []int{7, 4}, want: "shape (7, 4), want (T, 5) or (B, T, 5)"},
		{config: `{"layer": "simple"}`, shape: []int{7}, want: "shape (7), want (T, embed_dim) or (B, T, embed_dim)"},
	} {
		c := newWrongCall(t)
		c.weights = ""
		c.text(row.config)
		c.tensor(c.input, "x", row.shape, zeros(tensor.Shape(row.shape).TotalSize()))
		require.Equal(t, `in.safetensors: tensor "x": `+row.want+" with every axis at least 1", c.message())
	}
}

// TestApplyAdditiveWrongInput: query and key have their own widths and lengths, and one batch.
func TestApplyAdditiveWrongInput(t *testing.T) {
	for _, row := range []struct {
		query, key []int
		want       string
	}{
		{[]int{2, 4, 3}, []int{2, 7, 3}, `"query": shape (2, 4, 3), want (T, 2) or (B, T, 2) with every axis at least 1`},
		{[]int{2, 4, 2}, []int{2, 7, 2}, `"key": shape (2, 7, 2), want (S, 3) or (B, S, 3) with every axis at least 1`},
		{[]int{2, 4, 2}, []int{5, 7, 3},
			`"key": shape (5, 7, 3), want as many axes and the same B as query, which is (2, 4, 2)`},
		{[]int{2, 4, 2}, []int{7, 3}, `"key": shape (7, 3), want as many axes and the same B as query, which is (2, 4, 2)`},
	} {
		c := newWrongCallOf(t, "additive")
		c.text(`{"layer": "additive", "query_dim": 2, "key_dim": 3, "attn_dim": 1}`)
		for name, shape := range map[string][]int{"W_query.weight": {1, 2}, "W_key.weight": {1, 3}, "v.weight": {1, 1}} {
			c.tensor(c.weights, name, shape, zeros(tensor.Shape(shape).TotalSize()))
		}
		c.tensor(c.input, "query", row.query, zeros(tensor.Shape(row.query).TotalSize()))
		c.tensor(c.input, "key", row.key, zeros(tensor.Shape(row.key).TotalSize()))
		require.Equal(t, "in.safetensors: tensor "+row.want, c.message())
	}
}

// TestApplyAttentionWrongInput uses the files of attention_inputs: B 2, T 5, S 7,
// H 3, embed_dim 6.
func TestApplyAttentionWrongInput(t *testing.T) {
	const (
		scores = ", want one that broadcasts to (B, H, T, S) = (2, 3, 5, 7)"
		batch  = ", want as many axes and the same B as query, which is (2, 5, 6)"
		reals  = ", want F64, F32, F16 or BF16"
		whole  = ", want I64, I32, I16, I8 or U8"
	)
	requireWrong(t, "attention_inputs", []wrongTensor{
		{name: "query", shape: []int{2, 5, 7}, data: zeros(70),
			want: "shape (2, 5, 7), want (T, 6) or (B, T, 6) with every axis at least 1"},
		{name: "query", shape: []int{2, 5, 6}, data: make([]int32, 60), want: "dtype I32" + reals},
		{name: "key", shape: []int{7, 6}, data: zeros(42), want: "shape (7, 6)" + batch},
		{name: "value", shape: []int{2, 6, 6}, data: zeros(72),
			want: "shape (2, 6, 6), want as many rows as key, which is (2, 7, 6)"},
		{name: "value", shape: []int{3, 7, 6}, data: zeros(126), want: "shape (3, 7, 6)" + batch},
		{name: "keep", shape: []int{2, 7}, data: zeros(14), want: "shape (2, 7)" + scores},
		{name: "keep", shape: []int{0}, data: zeros(0), want: "shape (0)" + scores},
		{name: "keep", shape: []int{1, 1, 1, 1, 7}, data: zeros(7), want: "shape (1, 1, 1, 1, 7)" + scores},
		{name: "keep", shape: []int{7}, data: []uint8{0, 1, 1, 2, 0, 0, 1}, want: "got 2 at element 3, want 0 or 1"},
		{name: "keep", shape: []int{1}, data: []float64{0.5}, want: "got 0.5 at element 0, want 0 or 1"},
		{name: "keep", shape: []int{1}, data: []float32{float32(math.NaN())}, want: "got NaN at element 0, want 0 or 1"},
		{name: "keep", shape: []int{1}, data: []int64{1<<32 + 1}, want: "got 4294967297 at element 0, want 0 or 1"},
		{name: "lengths", shape: []int{1}, data: []int64{1}, want: "shape (1), want (B) = (2)"},
		{name: "lengths", shape: []int{2}, data: []int64{7, 8}, want: "got 8 at element 1, want 0 to S=7"},
		{name: "lengths", shape: []int{2}, data: []int8{-1, 8}, want: "got -1 at element 0, want 0 to S=7"},
		{name: "lengths", shape: []int{2}, data: zeros(2), want: "dtype F32" + whole},
		{name: "segments", shape: []int{2, 5}, data: make([]bool, 10), want: "dtype BOOL" + whole},
		{name: "segments", shape: []int{2, 7}, data: make([]int32, 14), want: "shape (2, 7), want (B, T) = (2, 5)"},
		{name: "segments", want: "missing, want it besides key_segments"},
		{name: "key_segments", want: "missing, want it besides segments with S=7 keys for T=5 queries"},
		{name: "key_segments", shape: []int{2, 5}, data: make([]int32, 10), want: "shape (2, 5), want (B, S) = (2, 7)"},
		{name: "bias", shape: []int{3, 5, 5}, data: zeros(75), want: "shape (3, 5, 5)" + scores},
		{name: "bias", shape: []int{7}, data: make([]int64, 7), want: "dtype I64" + reals},
		{name: "positions", shape: []int{7}, data: make([]int64, 7), want: "shape (7), want (T) = (5) or (B, T) = (2, 5)"},
		{name: "key_positions", shape: []int{7}, data: make([]float64, 7), want: "dtype F64" + whole},
		{name: "grad_output", shape: []int{2, 5, 6}, data: zeros(60), want: "shape (2, 5, 6), want (2, 5, 5) as the output"},
		{name: "grad_output", shape: []int{2, 5, 5}, data: make([]int8, 50), want: "dtype I8" + reals},
	})
	for _, row := range []struct {
		spoil func(*wrongCall)
		want  string
	}{
		{func(c *wrongCall) {
			c.tensor(c.input, "query", nil, nil)
			c.tensor(c.input, "x", []int{2, 5, 6}, zeros(60))
		}, `"x": unknown, want it by the name query, which is key and value too if there are none`},
		{func(c *wrongCall) {
			c.config = c.file("plain.json",
				`{"layer": "attention", "embed_dim": 6, "out_dim": 5, "num_heads": 3, "head_dim": 6, "qkv_bias": true}`)
			c.tensor(c.input, "positions", nil, nil)
		}, `"key_positions": got it without rope or latent in layer.json, which alone use positions`},
		{func(c *wrongCall) {
			editTensors(t, c.input, c.input, func(all []safetensors.Tensor) []safetensors.Tensor {
				return slices.DeleteFunc(all, func(t safetensors.Tensor) bool { return t.Name != "query" })
			})
			c.tensor(c.input, "key_positions", []int{5}, make([]int64, 5))
		}, `"key_positions": got it without positions, want positions: the keys are the queries`},
		{func(c *wrongCall) {
			for name, shape := range map[string][]int{"query": {2, 2, 6}, "segments": {2, 2}, "keep": {2, 7}} {
				data := any(zeros(tensor.Shape(shape).TotalSize()))
				if name == "segments" {
					data = make([]int64, 4)
				}
				c.tensor(c.input, name, shape, data)
			}
		}, `"keep": shape (2, 7), want (B, 1, 1, S) or (1, 1, T, S), which B = T = 2 does not tell apart`},
	} {
		c := newWrongCallOf(t, "attention_inputs")
		row.spoil(c)
		require.Equal(t, "in.safetensors: tensor "+row.want, c.message())
	}
}

// TestApplyTooLong: no sequence is longer than the context.
func TestApplyTooLong(t *testing.T) {
	for _, row := range []struct{ of, fields, want string }{
		{of: "attention_gpt2", fields: `, "qkv_bias": true, "out_bias": true`,
			want: `"query": shape (2, 7, 6), want (T <= context_length=6, 6) or (B, T <= context_length=6, 6)`},
		{of: "attention_gpt2_prefix",
			want: `"key": shape (2, 7, 6), want (S <= context_length=6, 6) or (B, S <= context_length=6, 6)`},
	} {
		c := newWrongCallOf(t, row.of)
		c.text(`{"layer": "attention", "layout": "gpt2", "embed_dim": 6, "num_heads": 3,
			"context_length": 6` + row.fields + "}")
		require.Equal(t, "in.safetensors: tensor "+row.want+" with every axis at least 1", c.message())
	}
}

// TestApplyMissingSequence: the replacement of a missing sequence must have its width.
func TestApplyMissingSequence(t *testing.T) {
	for _, row := range []struct{ of, missing, want string }{
		{"attention_torch_widths", "value",
			`"value": missing, and key of shape (2, 7, 5) cannot stand in for it, want (S, 11) or (B, S, 11)`},
		{"attention_torch_widths", "key",
			`"key": missing, and query of shape (2, 3, 6) cannot stand in for it, want (S, 5) or (B, S, 5)`},
		{"attention_renormalize", "key", `"value": shape (2, 7, 6), want as many rows as query, which is (2, 5, 6)`},
	} {
		c := newWrongCallOf(t, row.of)
		c.tensor(c.input, row.missing, nil, nil)
		require.Equal(t, "in.safetensors: tensor "+row.want, c.message())
	}
}

// TestApplyScalars: keep and bias without axes apply to all scores, as in torch, and the gradient of bias is one
// number.
func TestApplyScalars(t *testing.T) {
	f := caseFiles(t, "attention_torch")
	with := func(name string, shape []int, data any) map[string]any {
		f := f
		f.input = withTensor(t, f.input, safetensors.Tensor{Name: name, Shape: shape, Data: data})
		results := map[string]any{}
		for _, r := range applied(t, f).Tensors {
			results[r.Name] = r.Data
			if r.Name == "grad.bias" {
				require.Equal(t, tensor.Shape(shape), tensor.Shape(r.Shape))
			}
		}
		return results
	}
	for _, c := range []struct {
		name string
		data any
	}{
		{name: "keep", data: []uint8{0}},
		{name: "keep", data: []uint8{1}},
		{name: "keep", data: []bool{true}},
		{name: "keep", data: []float32{0}},
		{name: "keep", data: []int64{1}},
		{name: "bias", data: []float64{1.5}},
	} {
		require.Equal(t, with(c.name, []int{1}, c.data), with(c.name, []int{}, c.data), "%s %v", c.name, c.data)
	}
}
