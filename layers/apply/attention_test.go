package apply

import (
	"path/filepath"
	"strings"
	"testing"

	"attention/internal/safetensors"

	"github.com/stretchr/testify/require"
)

// TestApplyHiddenKey: a hidden key takes no weight from the others, whatever its score.
func TestApplyHiddenKey(t *testing.T) {
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
	f = f.withConfig(t, `{"layer": "attention", "embed_dim": 1, "num_heads": 1, "qkv_bias": true, "out_bias": true}`)
	weights, ok := applied(t, f).Get("weights")
	require.True(t, ok)
	require.Equal(t, []float64{1, 0}, weights.Data)
}

// TestApplyWithoutPlace: the positions of the queries among the keys must be given if they matter. T is 5 and S is 7.
func TestApplyWithoutPlace(t *testing.T) {
	const place = `in.safetensors: tensor "key": got T=5 and S=7, want T = S or an alignment, ` +
		"upper_left or lower_right (align in layer.json)"
	for _, row := range []struct {
		fields string
		given  bool
	}{
		{fields: `"mask": {"type": "sliding_window", "left": 1, "right": 1}`},
		{fields: `"alibi": true`},
		{fields: `"relative_bias": {}`},
		{fields: `"rope": {}`},
		{fields: `"rope": {}, "align": "upper_left"`, given: true},
		{fields: `"mask": {"type": "not", "of": {"type": "causal"}}`},
		{fields: `"mask": {"type": "causal", "align": "lower_right"}`, given: true},
		{fields: `"mask": {"type": "prefix", "n": 2}`, given: true},
		{fields: `"mask": {"type": "causal", "align": "lower_right"}, "align": "lower_right", "alibi": true,
			"out_dim": 6, "kdim": 6`, given: true},
	} {
		c := newWrongCallOf(t, "attention_gpt2_prefix")
		c.text(`{"layer": "attention", "layout": "gpt2", "embed_dim": 6, "head_dim": 2, "num_heads": 3, ` + row.fields + `}`)
		if strings.Contains(row.fields, "relative_bias") {
			c.tensor(c.weights, "relative_attention_bias.weight", []int{32, 3}, zeros(96))
		}
		if row.given {
			_, err := c.run(t)
			require.NoError(t, err, row.fields)
			continue
		}
		require.Equal(t, place, c.message(), row.fields)
	}
	c := newWrongCallOf(t, "attention_gpt2_prefix")
	c.tensor(c.input, "key", []int{2, 3, 6}, zeros(36))
	require.Equal(t, `in.safetensors: tensor "key": got T=5 and S=3 with lower_right, want S ≥ T `+
		"(align in layer.json)", c.message())
}
