package apply

import (
	"fmt"
	"iter"
	"math"
	"testing"

	"attention/internal/safetensors"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// TestApplyParameters: the tensors that the command wants are the parameters of the
// layer, in their order.
func TestApplyParameters(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range caseNames(t) {
		l, err := readLayer(caseFiles(t, name).config)
		require.NoError(t, err)
		seen[l.name] = true
		p := layers.NewParams(tensor.Float32, 0)
		_, err = l.build(p.Scope(""))
		require.NoError(t, err)
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
	require.Len(t, seen, len(layerNames()))
}

// TestApplyIgnoresUnusedFields: the fields of another self-attention layer may be
// present, and 0 where this layer does not have the size.
func TestApplyIgnoresUnusedFields(t *testing.T) {
	for _, text := range []string{
		`{"layer": "simple", "d_in": 0, "d_out": 2, "context_length": 1, "num_heads": 0, "qkv_bias": true, "dropout": 0.1}`,
		`{"layer": "simple", "d_in": 5, "d_out": 0}`,
		` { "dropout" : 0.0 , "l\u0061yer" : "simple" } ` + "\n",
	} {
		f := caseFiles(t, "simple").withConfig(t, text)
		compareWithTorch(t, "simple", f, []string{"output", "weights", "grad.x"}, safetensors.F64, 1e-10)
	}
	f := caseFiles(t, "self_v1").withConfig(t, `{"layer": "self_v1", "d_in": 5, "d_out": 6, "context_length": 2, `+
		`"num_heads": 4, "qkv_bias": true, "dropout": 0.9}`)
	compareWithTorch(t, "self_v1", f, nil, safetensors.F64, 1e-10)
}

// TestApplyWithoutMask: the buffer may be missing, and its content and type do not
// matter.
func TestApplyWithoutMask(t *testing.T) {
	for _, mask := range []any{nil, []bool{true}, []float64{math.NaN()}, []int64{7}} {
		f := caseFiles(t, "multi_head_wrapper")
		f.weights = withTensor(t, f.weights, safetensors.Tensor{Name: "heads.1.mask", Shape: []int{1, 1}, Data: mask})
		compareWithTorch(t, "multi_head_wrapper", f, nil, safetensors.F64, 1e-10)
	}
}

// TestApplyAttentionBuffers: tensors that the modules of a layout save besides
// parameters are ignored.
func TestApplyAttentionBuffers(t *testing.T) {
	for _, row := range []struct{ name, buffer string }{
		{name: "attention", buffer: "mask"}, {name: "attention_gpt2", buffer: "bias"},
	} {
		f := caseFiles(t, row.name)
		f.weights = withTensor(t, f.weights,
			safetensors.Tensor{Name: row.buffer, Shape: []int{1, 1, 3}, Data: []bool{true, false, true}})
		compareWithTorch(t, row.name, f, nil, safetensors.F64, 1e-10)
	}
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
		require.Equal(t, fmt.Sprintf("apply: w.safetensors: tensor %q: %s", row.name, row.want), c.message())
	}
	c := newWrongCallOf(t, "attention_gpt2")
	c.tensor(c.weights, "c_attn.weight", []int{18, 6}, zeros(108))
	require.Equal(t, `apply: w.safetensors: tensor "c_attn.weight": shape (18, 6), want (6, 18)`, c.message())
}
