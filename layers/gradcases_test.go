package layers_test

import (
	"testing"

	"attention/internal/exports"
	"attention/internal/testenv"
	"attention/layers/gradcases"

	"github.com/stretchr/testify/require"
)

// Every case has the gradient that differences give, in both types.
func TestGradients(t *testing.T) {
	if testenv.Race { // the same ops run in other tests
		t.Skip("a difference for each element takes minutes under the race detector")
	}
	require.NoError(t, gradcases.CheckAll(gradcases.Cases()))
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
		for _, f := range must(exports.Funcs(dir)) {
			if f.Receiver != "" && f.Name == "Forward" {
				exported[f.Receiver] = true
				require.True(t, covered[f.Receiver], "%s.%s: no gradient case, want one in layers/gradcases", dir, f.Receiver)
			}
		}
	}
	for layer := range covered {
		require.True(t, exported[layer], "layers/gradcases: got a case of layers.%s, which has no Forward", layer)
	}
	require.True(t, covered["Attention"] && covered["Decoder"])
}
