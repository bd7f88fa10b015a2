package apply

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"

	"attention/internal/safetensors"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// TestApplyEqualsPyTorch runs every case in both types, with gradients and without.
// All sums have a few dozen terms of order 1, so rounding stays far below the
// promised 1e-10 in float64 and 1e-5 in float32.
func TestApplyEqualsPyTorch(t *testing.T) {
	for _, name := range caseNames(t) {
		t.Run(name, func(t *testing.T) {
			f := caseFiles(t, name)
			if name == "half" { // F16, BF16 and F32 in, float32 out
				compareWithTorch(t, name, f, nil, tensor.Float32, 1e-5)
				return
			}
			plain, results := withoutGradOutput(t, f), []string{"output", "weights"}
			for _, r := range []struct {
				files files
				names []string
				dt    []tensor.Dtype
				want  tensor.Dtype
				tol   float64
			}{
				{files: f, want: tensor.Float64, tol: 1e-10},
				{files: f, dt: []tensor.Dtype{tensor.Float32}, want: tensor.Float32, tol: 1e-5},
				{files: plain, names: results, dt: []tensor.Dtype{tensor.Float64}, want: tensor.Float64, tol: 1e-10},
				{files: plain, names: results, dt: []tensor.Dtype{tensor.Float32}, want: tensor.Float32, tol: 1e-5},
			} {
				compareWithTorch(t, name, r.files, r.names, r.want, r.tol, r.dt...)
			}
		})
	}
}

// TestApplyWrongCalls: a type that is not a float type, and a missing file of weights for a layer with parameters.
func TestApplyWrongCalls(t *testing.T) {
	f := caseFiles(t, "self_v1")
	_, err := f.run(t, tensor.Int)
	require.EqualError(t, err, "Dtype: got int, want float32 or float64")
	f.weights = ""
	_, err = f.run(t)
	require.EqualError(t, err, "weights: missing W_query, W_key, W_value; want W_query, W_key, W_value for layer self_v1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f = caseFiles(t, "self_v1")
	l := must(Read(f.config))
	_, err = l.Run(ctx, Config{Weights: f.weights, Input: f.input})
	require.ErrorIs(t, err, context.Canceled)
	var none context.Context
	_, err = l.Run(none, Config{Weights: f.weights, Input: f.input})
	require.EqualError(t, err, "apply: context: got nil, want one")
}

// TestApplyNonFinite: NaN in a token reaches every row of the output that sees it.
func TestApplyNonFinite(t *testing.T) {
	f := withoutGradOutput(t, caseFiles(t, "self_v2"))
	editTensors(t, f.input, f.input, func(all []safetensors.Tensor) []safetensors.Tensor {
		all[0].Data.([]float64)[8] = math.NaN()
		return all
	})
	for _, r := range applied(t, f).Tensors {
		for i, v := range r.Data.([]float64) {
			require.True(t, math.IsNaN(v), "%s[%d] is %v", r.Name, i, v)
		}
	}
}

// TestApplyMemory: a graph that needs too much memory is refused before any is allocated.
func TestApplyMemory(t *testing.T) {
	const tooLarge = "layer %s: a tensor of the computation has shape %v, want at most 1073741824 elements in each"
	c := newWrongCall(t)
	c.text(`{"layer": "simple"}`)
	c.weights = ""
	c.tensor(c.input, "grad_output", nil, nil)
	c.tensor(c.input, "x", []int{40000, 1}, zeros(40000))
	require.Equal(t, fmt.Sprintf(tooLarge, "simple", "(1, 40000, 40000)"), c.message())

	const heads = 16384
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c = newWrongCallOf(t, "attention")
	c.text(`{"layer": "attention", "embed_dim": 1, "num_heads": 16384, "head_dim": 1, "alibi": true,
		"add_zero_attn": true}`)
	for _, name := range []string{"W_query.weight", "W_key.weight", "W_value.weight"} {
		c.tensor(c.weights, name, []int{heads, 1}, zeros(heads))
	}
	c.tensor(c.weights, "out_proj.weight", []int{1, heads}, zeros(heads))
	c.tensor(c.input, "grad_output", nil, nil)
	c.tensor(c.input, "query", []int{300, 1}, zeros(300))
	require.Equal(t, fmt.Sprintf(tooLarge, "attention", "(16384, 300, 301)"), c.message())
	c.text(`{"layer": "attention", "embed_dim": 2147483647, "num_heads": 1}`)
	require.Equal(t, "layer.json: W_query.weight: shape (2147483647, 2147483647), want at most 2147483647 elements",
		c.message())
	c.text(`{"layer": "attention", "embed_dim": 30000, "num_heads": 1}`)
	require.Equal(t, `w.safetensors: tensor "W_query.weight": shape (16384, 1), want (30000, 30000)`, c.message())
	runtime.ReadMemStats(&after)
	// The biases of alibi alone would take 78 MiB in float64, the weights 27 GiB.
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20))
}
