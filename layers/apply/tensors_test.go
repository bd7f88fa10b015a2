package apply

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/internal/safetensors"

	"github.com/stretchr/testify/require"
)

// TestApplyManyMissing: a list that is too long for one line is shortened.
func TestApplyManyMissing(t *testing.T) {
	c := newWrongCall(t)
	c.text(`{"layer": "multi_head_wrapper", "embed_dim": 5, "out_dim": 6, "num_heads": 1000}`)
	got := c.message()
	require.Less(t, len(got), 1000)
	require.Contains(t, got,
		` missing heads.0.W_query.weight, heads.0.W_key.weight, heads.0.W_value.weight and 2997 more; `)
	require.Contains(t, got, "want heads.0.W_query.weight, heads.0.W_key.weight, ")
	require.Contains(t, got, "heads.3.W_query.weight and 2990 more and optionally ")
}

// TestApplyWrongNames: the error lists all missing, all unknown and all known names.
func TestApplyWrongNames(t *testing.T) {
	const (
		projections = "W_query.weight, W_query.bias, W_key.weight, W_key.bias, W_value.weight, W_value.bias"
		causal      = projections + " and optionally mask for layer causal"
	)
	for _, row := range []struct {
		of    string // the case
		spoil func(*wrongCall)
		want  string
	}{
		{of: "causal_batch", want: `w.safetensors: missing W_key.weight; want ` + causal,
			spoil: func(c *wrongCall) { c.tensor(c.weights, "W_key.weight", nil, nil) }},
		{of: "causal_batch", want: `w.safetensors: missing W_key.weight, W_value.bias; ` +
			`unknown "W_k.weight", "\n"; want ` + causal,
			spoil: func(c *wrongCall) {
				c.tensor(c.weights, "W_key.weight", nil, nil)
				c.tensor(c.weights, "W_value.bias", nil, nil)
				c.tensor(c.weights, "W_k.weight", []int{0}, zeros(0))
				c.tensor(c.weights, "\n", []int{0}, zeros(0))
			}},
		{of: "causal_batch", want: `w.safetensors: unknown "heads.0.mask"; want ` + causal,
			spoil: func(c *wrongCall) { c.tensor(c.weights, "heads.0.mask", []int{1}, zeros(1)) }},
		{of: "causal_batch", want: `w.safetensors: unknown "mask"; want ` + projections + " for layer self_v2",
			spoil: func(c *wrongCall) { c.text(`{"layer": "self_v2", "embed_dim": 5, "out_dim": 6, "qkv_bias": true}`) }},
		{of: "causal_batch", want: `w.safetensors: unknown "W_query.weight", "W_query.bias", "W_key.weight" and 4 more; ` +
			`want none for layer simple`,
			spoil: func(c *wrongCall) {
				c.text(`{"layer": "simple"}`)
				names := append(strings.Split(projections, ", "), "mask") // in the order of the error
				editTensors(c.t, c.weights, c.weights, func(all []safetensors.Tensor) []safetensors.Tensor {
					slices.SortFunc(all, func(a, b safetensors.Tensor) int {
						return slices.Index(names, a.Name) - slices.Index(names, b.Name)
					})
					return all
				})
			}},
		{of: "causal_batch", want: `in.safetensors: missing x; unknown "X"; ` +
			`want x and optionally grad_output for layer causal`,
			spoil: func(c *wrongCall) {
				c.tensor(c.input, "x", nil, nil)
				c.tensor(c.input, "X", []int{7, 5}, zeros(35))
			}},
		{of: "additive", want: `in.safetensors: unknown "x"; ` +
			`want query, key and optionally grad_output for layer additive`,
			spoil: func(c *wrongCall) { c.tensor(c.input, "x", []int{7, 3}, zeros(21)) }},
		{of: "attention_torch_widths", want: `in.safetensors: missing query; unknown "mask"; ` +
			`want query and optionally key, value, keep, lengths, segments, key_segments, bias, positions, key_positions, ` +
			`grad_output for layer attention`,
			spoil: func(c *wrongCall) {
				c.tensor(c.input, "query", nil, nil)
				c.tensor(c.input, "mask", []int{1}, []bool{true})
			}},
		{of: "attention_torch_widths", want: `w.safetensors: missing bias_k; unknown "in_proj_weight"; ` +
			`want out_proj.weight, out_proj.bias, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias, bias_k, bias_v ` +
			`for layer attention`,
			spoil: func(c *wrongCall) {
				c.tensor(c.weights, "in_proj_weight", []int{18, 6}, zeros(108))
				c.tensor(c.weights, "bias_k", nil, nil)
			}},
	} {
		c := newWrongCallOf(t, row.of)
		row.spoil(c)
		require.Equal(t, row.want, c.message())
	}
}

// TestApplyHugeFiles: a sparse file may claim to hold more data than the memory. Its names, dtypes, shapes and size are
// checked first.
func TestApplyHugeFiles(t *testing.T) {
	for _, row := range []struct {
		name, dtype string
		elements    int64
		want        string
	}{
		{"W_query.weight", "F32", 1 << 40, "got tensors of 4398046511104 bytes, want at most 8589934592"},
		{"W_query.weight", "F32", 1 << 31, `missing W_query.bias, `},
	} {
		f := caseFiles(t, "causal_batch")
		header := fmt.Sprintf(`{%q:{"dtype":%q,"shape":[%d],"data_offsets":[0,%d]}}`,
			row.name, row.dtype, row.elements, 4*row.elements)
		huge := filepath.Join(t.TempDir(), "huge")
		require.NoError(t, os.WriteFile(huge,
			append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), 0o644))
		if err := os.Truncate(huge, 8+int64(len(header))+4*row.elements); err != nil {
			t.Skip("the file system has no such files: ", err)
		}
		f.weights = huge
		_, err := f.run(t)
		require.ErrorContains(t, err, huge+": "+row.want)
	}
}
