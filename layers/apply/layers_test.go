package apply

import (
	"fmt"
	"iter"
	"testing"

	"attention/internal/safetensors"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// TestApplyParameters: the tensors that a layer wants are the parameters of the
// layer, in their order.
func TestApplyParameters(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range caseNames(t) {
		l := must(Read(caseFiles(t, name).config))
		seen[l.Name] = true
		p := layers.NewParams(tensor.Float32, 0)
		must(l.build(p.Scope("")))
		require.Equal(t, p.Len(), l.parameters.Len(), name)
		made, stop := iter.Pull2(p.All())
		defer stop()
		for parameter, shape := range l.parameters.Shapes() {
			madeName, value, ok := made()
			require.True(t, ok)
			require.Equal(t, madeName, parameter, name)
			require.Equal(t, value.Shape(), shape, parameter)
		}
	}
	require.Len(t, seen, len(Names()))
}

// TestApplyIgnoresUnusedFields: fields of other self-attention layers may be present, and 0 where this layer does not
// have the size. A zero value means the same as a missing field.
func TestApplyIgnoresUnusedFields(t *testing.T) {
	for _, text := range []string{
		`{"layer": "simple", "embed_dim": 0, "out_dim": 2, "context_length": 1, "num_heads": 0,
			"qkv_bias": true, "dropout": 0.1}`,
		`{"layer": "simple", "embed_dim": 5, "out_dim": 0}`,
		` { "dropout" : 0.0 , "l\u0061yer" : "simple" } ` + "\n",
	} {
		f := caseFiles(t, "simple").withConfig(t, text)
		compareWithTorch(t, "simple", f, []string{"output", "weights", "grad.x"}, tensor.Float64, 1e-10)
	}
	f := caseFiles(t, "self_v1").withConfig(t, `{"layer": "self_v1", "embed_dim": 5, "out_dim": 6, "context_length": 2, `+
		`"num_heads": 4, "qkv_bias": true, "dropout": 0.9}`)
	compareWithTorch(t, "self_v1", f, nil, tensor.Float64, 1e-10)
	f = caseFiles(t, "attention").withConfig(t, `{"layer": "attention", "embed_dim": 6, "num_heads": 3, "out_dim": 0, `+
		`"layout": "", "align": "square", "scale": 0, "qk_norm": "", "qk_norm_eps": 0, "sinks": false}`)
	compareWithTorch(t, "attention", f, nil, tensor.Float64, 1e-10)
}

// TestApplyBuffers: the causal mask of the book's classes may be missing, or present in any type.
func TestApplyBuffers(t *testing.T) {
	const name = "heads.1.mask"
	ones := layers.CausalMask(tensor.Float64, 11).Float64s()
	bools, ints := make([]bool, len(ones)), make([]int64, len(ones))
	for i, x := range ones {
		bools[i], ints[i] = x == 1, int64(x)
	}
	for _, mask := range []any{nil, bools, ints} {
		f := caseFiles(t, "multi_head_wrapper")
		f.weights = withTensor(t, f.weights, safetensors.Tensor{Name: name, Shape: []int{11, 11}, Data: mask})
		compareWithTorch(t, "multi_head_wrapper", f, nil, tensor.Float64, 1e-10)
	}
}

// TestApplyWrongBuffers: the error about a mask that differs from the layer's names the mask. An input longer than a
// mask is an error, too.
func TestApplyWrongBuffers(t *testing.T) {
	const own = `w.safetensors: tensor "heads.1.mask": `
	four := layers.CausalMask(tensor.Float64, 4).Float64s()
	for _, row := range []struct {
		n    int
		data any
		want string
	}{
		{1, []float64{0}, own + "shape (1, 1), want (11, 11): the causal mask of the context length"},
		{11, zeros(121), own + "got 0 at (0, 1), want 1: the causal mask is 1 above the diagonal, where keys are hidden, and 0 " +
			"elsewhere"},
		{0, zeros(0), own + "shape (0, 0), want every axis at least 1"},
		{4, four, `in.safetensors: tensor "x": shape (7, 5), want (T <= context_length=4, 5) or (B, T <= context_length=4, 5) ` +
			"with every axis at least 1"},
	} {
		c := newWrongCallOf(t, "multi_head_wrapper")
		if row.n == 4 { // of any length
			c.text(`{"layer": "multi_head_wrapper", "embed_dim": 5, "out_dim": 6, "num_heads": 3}`)
			c.tensor(c.weights, "heads.0.mask", nil, nil)
			c.tensor(c.weights, "heads.2.mask", nil, nil)
		}
		c.tensor(c.weights, "heads.1.mask", []int{row.n, row.n}, row.data)
		require.Equal(t, row.want, c.message())
	}
}

// TestApplyIgnoresBuffersOfGPT2: all GPT-2 files have the same buffers.
func TestApplyIgnoresBuffersOfGPT2(t *testing.T) {
	f := caseFiles(t, "attention_gpt2")
	f.weights = withTensor(t, f.weights,
		safetensors.Tensor{Name: "bias", Shape: []int{1, 1, 3}, Data: []bool{true, false, true}})
	compareWithTorch(t, "attention_gpt2", f, nil, tensor.Float64, 1e-10)
}

// TestApplyWrongWeights: an error about a parameter names the file and the tensor, what it
// got and what it wants.
func TestApplyWrongWeights(t *testing.T) {
	for _, row := range []struct {
		name  string
		shape []int
		data  any
		want  string
	}{
		{name: "W_key.weight", shape: []int{5, 6}, data: zeros(30), want: "shape (5, 6), want (6, 5)"},
		{name: "W_value.bias", shape: []int{6, 1}, data: zeros(6), want: "shape (6, 1), want (6)"},
		{name: "W_value.bias", data: zeros(1), want: "shape (), want (6)"},
		{name: "W_query.weight", shape: []int{6, 5}, data: make([]int64, 30), want: "dtype I64, want F64, F32, F16 or BF16"},
	} {
		c := newWrongCall(t)
		c.tensor(c.weights, row.name, row.shape, row.data)
		require.Equal(t, fmt.Sprintf("w.safetensors: tensor %q: %s", row.name, row.want), c.message())
	}
	c := newWrongCallOf(t, "attention_gpt2")
	c.tensor(c.weights, "c_attn.weight", []int{18, 6}, zeros(108))
	require.Equal(t, `w.safetensors: tensor "c_attn.weight": shape (18, 6), want (6, 18)`, c.message())
}
