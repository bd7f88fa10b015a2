package layers_test

import (
	"testing"

	"attention/graph/gradcheck"
	"attention/internal/exports"
	"attention/layers/gradcases"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// Every case has the gradient that differences give, in both types.
func TestGradients(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range gradcases.Cases() {
		require.False(t, seen[c.Name()], "%s: twice", c.Name())
		seen[c.Name()] = true
		for _, dt := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
			report, err := c.Check(dt, gradcheck.Config{Seed: 1})
			require.NoError(t, err, "%s (%v)", c.Name(), dt)
			require.True(t, report.OK(), "%s (%v): %v", c.Name(), dt, report)
			require.NotEmpty(t, report.Inputs, c.Name())
			for _, in := range report.Inputs {
				require.False(t, in.Unused, "%s: %s has no part in the output", c.Name(), in.Name)
			}
		}
	}
}

// Every exported type with a Forward has a case, and every case is of one.
func TestNoLayerLacksAGradientCase(t *testing.T) {
	covered := map[string]bool{}
	for _, c := range gradcases.Cases() {
		covered[c.Layer] = true
	}
	// The chapter's classes that are presets of Attention.
	exported := map[string]bool{"SelfAttentionV1": true, "SelfAttentionV2": true, "CausalAttention": true,
		"MultiHeadAttention": true, "MultiHeadAttentionWrapper": true}
	for _, dir := range []string{".", "chapter"} {
		functions, err := exports.Funcs(dir)
		require.NoError(t, err)
		for _, f := range functions {
			if f.Receiver != "" && f.Name == "Forward" {
				exported[f.Receiver] = true
				require.True(t, covered[f.Receiver], "%s.%s: no gradient case, want one in layers/gradcases", dir, f.Receiver)
			}
		}
	}
	for layer := range covered {
		require.True(t, exported[layer], "layers/gradcases: got a case of layers.%s, which has no Forward", layer)
	}
	require.True(t, covered["Attention"] && covered["GPT"])
}
