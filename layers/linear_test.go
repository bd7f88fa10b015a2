package layers_test

import (
	"testing"

	"attention/internal/refusal"
	"attention/layers"
)

// Sizes that make no layer are errors of the constructor.
func TestWrongSizesAreRefused(t *testing.T) {
	refuses(t, "Linear", layers.NewLinear, layers.LinearConfig{InFeatures: 1, OutFeatures: 1}, refusal.Rows{
		{`{"in_features": 0}`, "InFeatures: got 0, want at least 1"},
		{`{"out_features": -1}`, "OutFeatures: got -1, want at least 1"},
	})
	additive := layers.AdditiveAttentionConfig{QueryDim: 1, KeyDim: 1, AttnDim: 2}
	refuses(t, "AdditiveAttention", layers.NewAdditiveAttention, additive, refusal.Rows{
		{`{"attn_dim": 0}`, "AttnDim: got 0, want at least 1"},
		{`{"key_dim": 1073741824}`, "KeyDim: got 1073741824 for AttnDim=2, want at most 2147483647 elements in a weight"},
	})
}
