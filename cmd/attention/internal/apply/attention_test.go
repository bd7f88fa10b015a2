package apply

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"attention/internal/golden"
	"attention/internal/safetensors"

	"github.com/stretchr/testify/require"
)

// withTensor copies a file and replaces or adds one tensor.
func withTensor(t *testing.T, path string, x safetensors.Tensor) string {
	file, err := safetensors.ReadFile(path)
	require.NoError(t, err)
	file.Tensors = append(slices.DeleteFunc(file.Tensors, func(o safetensors.Tensor) bool { return o.Name == x.Name }), x)
	copied := filepath.Join(t.TempDir(), "copy.safetensors")
	require.NoError(t, safetensors.WriteFile(copied, file))
	return copied
}

// applied runs a call and returns the tensors it wrote.
func applied(t *testing.T, f files, flags ...string) *safetensors.File {
	_, err := f.run(t, flags...)
	require.NoError(t, err)
	out, err := safetensors.ReadFile(f.output)
	require.NoError(t, err)
	return out
}

// TestApplyMaskTypes: a mask is the same in every type, and so are whole numbers.
func TestApplyMaskTypes(t *testing.T) {
	keep := []int8{1, 1, 0, 1, 0, 1, 1}
	shown := make([]bool, len(keep))
	for i, v := range keep {
		shown[i] = v == 1
	}
	for name, types := range map[string][]any{
		"keep": {shown, keep, convert[uint8](keep), convert[int32](keep), convert[int64](keep), convert[float32](keep), convert[float64](keep),
			[]int16{1, 1, 0, 1, 0, 1, 1}},
		"key_positions": {[]int64{0, 1, 2, 3, 5, 6, 100}, []int32{0, 1, 2, 3, 5, 6, 100}, []int16{0, 1, 2, 3, 5, 6, 100}, []int8{0, 1, 2, 3, 5, 6, 100},
			[]uint8{0, 1, 2, 3, 5, 6, 100}},
	} {
		var first *safetensors.File
		for _, data := range types {
			f := caseFiles(t, "attention_inputs")
			f.input = withTensor(t, f.input, safetensors.Tensor{Name: name, Shape: []int{7}, Data: data})
			out := applied(t, f)
			if first == nil {
				first = out
			}
			require.Equal(t, first, out, "%s as %T", name, data)
		}
	}
}

// TestApplyReadsWholeNumbersExactly: segments that round to the same float64 stay different.
func TestApplyReadsWholeNumbersExactly(t *testing.T) {
	ids := func(to int64) []int64 {
		list := make([]int64, 14)
		for i := range list {
			list[i] = math.MaxInt64 - to*int64(i%2)
		}
		return list
	}
	weights := func(ids []int64) []float64 {
		f := caseFiles(t, "attention_gpt2")
		f.input = withTensor(t, f.input, safetensors.Tensor{Name: "segments", Shape: []int{2, 7}, Data: ids})
		w, ok := applied(t, f).Get("weights")
		require.True(t, ok)
		return w.Data.([]float64)
	}
	near, far, same := weights(ids(1)), weights(ids(1<<40)), weights(ids(0))
	require.Equal(t, far, near)
	require.NotEqual(t, same, near)
	require.Zero(t, near[7], "query 1 does not see key 0")
}

// TestApplyRenormalize: weights are zeroed after the softmax, so a hidden key that has
// all the weight leaves none for the others.
func TestApplyRenormalize(t *testing.T) {
	f := caseFiles(t, "attention_one")
	dir := t.TempDir()
	write := func(name string, tensors ...safetensors.Tensor) string {
		path := filepath.Join(dir, name)
		require.NoError(t, safetensors.WriteFile(path, &safetensors.File{Tensors: tensors}))
		return path
	}
	f.input = write("in",
		safetensors.Tensor{Name: "query", Shape: []int{1, 1}, Data: []float64{1}},
		safetensors.Tensor{Name: "key", Shape: []int{2, 1}, Data: []float64{1, 2}},
		safetensors.Tensor{Name: "bias", Shape: []int{2}, Data: []float64{0, 5000}},
		safetensors.Tensor{Name: "keep", Shape: []int{2}, Data: []bool{true, false}})
	for renormalize, want := range map[string][]float64{"false": {1, 0}, "true": {0, 0}} {
		f.config = filepath.Join(dir, "layer.json")
		text := `{"layer": "attention", "d_in": 1, "num_heads": 1, "qkv_bias": true, "out_bias": true, "renormalize": ` + renormalize + `}`
		require.NoError(t, os.WriteFile(f.config, []byte(text), 0o644))
		weights, ok := applied(t, f).Get("weights")
		require.True(t, ok)
		require.Equal(t, want, weights.Data, renormalize)
	}
}

// TestApplyAttentionBuffers: tensors that the modules of a layout save besides
// parameters are ignored.
func TestApplyAttentionBuffers(t *testing.T) {
	for name, buffer := range map[string]string{"attention": "mask", "attention_gpt2": "bias"} {
		f := caseFiles(t, name)
		f.weights = withTensor(t, f.weights,
			safetensors.Tensor{Name: buffer, Shape: []int{1, 1, 3}, Data: []bool{true, false, true}})
		_, err := f.run(t)
		require.NoError(t, err)
		compareWithTorch(t, name, f, golden.Load(t, "apply/"+name+"/out.safetensors").Names(), safetensors.F64, 1e-10)
	}
}

// TestApplyAttentionIsTheChapters: the chapter's layers are configs of the layer attention.
func TestApplyAttentionIsTheChapters(t *testing.T) {
	for _, c := range []struct{ name, fields string }{
		{name: "self_v2_batch", fields: `"d_out": 6, "num_heads": 1, "qkv_bias": true, "context_only": true, "average_weights": true`},
		{name: "multi_head_batch", fields: `"d_out": 6, "num_heads": 3, "qkv_bias": true, "out_bias": true, "causal": "upper_left", "context_length": 11,
			"out_std": 3, "dropout": 0.25, "context_dropout": 0.25, "out_dropout": 0.25`},
		{name: "multi_head_wrapper_batch", fields: `"num_heads": 3, "head_dim": 6, "qkv_bias": true, "context_only": true, "layout": "per_head",
			"mask": {"type": "causal"}`},
	} {
		f := caseFiles(t, c.name)
		want := applied(t, f)
		f.config = filepath.Join(t.TempDir(), "layer.json")
		require.NoError(t, os.WriteFile(f.config, []byte(`{"layer": "attention", "d_in": 5, `+c.fields+`}`), 0o644))
		file, err := safetensors.ReadFile(f.input)
		require.NoError(t, err)
		for i := range file.Tensors {
			if file.Tensors[i].Name == "x" {
				file.Tensors[i].Name = "query"
			}
		}
		f.input = filepath.Join(t.TempDir(), "in.safetensors")
		require.NoError(t, safetensors.WriteFile(f.input, file))
		got := applied(t, f)
		require.Len(t, got.Tensors, len(want.Tensors))
		for i, x := range want.Tensors {
			if x.Name == "grad.x" {
				x.Name = "grad.query"
			}
			require.Equal(t, x, got.Tensors[i], c.name)
		}
	}
}
