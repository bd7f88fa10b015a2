package layers_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// Each name makes its layer, of the width it says, with the chapter's parameters.
func TestEachVariantMakesItsLayer(t *testing.T) {
	projections := []string{"W_query.weight", "W_key.weight", "W_value.weight"}
	biased := []string{"W_query.weight", "W_query.bias", "W_key.weight", "W_key.bias", "W_value.weight", "W_value.bias"}
	for _, c := range []struct {
		config layers.VariantConfig
		layer  string
		names  []string
		width  int
		causal bool
	}{
		{layers.VariantConfig{Layer: "simple", DIn: 3}, "layers.SimpleSelfAttention", nil, 3, false},
		{layers.VariantConfig{Layer: "self_v1", DIn: 3, DOut: 2}, "*layers.SelfAttentionV1", []string{"W_query", "W_key", "W_value"}, 2, false},
		{layers.VariantConfig{Layer: "self_v2", DIn: 3, DOut: 2, QKVBias: true}, "*layers.SelfAttentionV2", biased, 2, false},
		{layers.VariantConfig{Layer: "causal", DIn: 3, DOut: 2, ContextLength: 4}, "*layers.CausalAttention", projections, 2, true},
		{layers.VariantConfig{Layer: "multi_head_wrapper", DIn: 3, DOut: 2, NumHeads: 1}, "*layers.MultiHeadAttentionWrapper",
			[]string{"heads.0.W_query.weight", "heads.0.W_key.weight", "heads.0.W_value.weight"}, 2, true},
		{layers.VariantConfig{Layer: "multi_head", DIn: 3, DOut: 4, NumHeads: 2}, "*layers.MultiHeadAttention",
			append(projections[:3:3], "out_proj.weight", "out_proj.bias"), 4, true},
		{layers.VariantConfig{Layer: "additive", DQuery: 3, DKey: 3, DAttn: 5}, "layers.additiveSelf",
			[]string{"W_query.weight", "W_key.weight", "v.weight"}, 3, false},
	} {
		require.NoError(t, c.config.Validate())
		p := layers.NewParams(tensor.Float64, 1)
		l, err := c.config.New(p.Scope(""))
		require.NoError(t, err)
		require.Equal(t, c.layer, fmt.Sprintf("%T", l))
		require.Equal(t, c.names, names(p))
		require.Equal(t, c.width, c.config.Width())
		require.Equal(t, c.causal, c.config.Causal())
		out, _ := apply(t, p, l, numbers(tensor.Float64, 2, 4, 3))
		require.Len(t, out, 2*4*c.width)
	}
}

// Every name of Variants is known, and its config goes through JSON unchanged.
func TestVariantsGoThroughJSON(t *testing.T) {
	require.Len(t, layers.Variants(), 7)
	for _, name := range layers.Variants() {
		c := layers.VariantConfig{Layer: name, DIn: 3, DOut: 4, ContextLength: 5, NumHeads: 2, QKVBias: true, Dropout: 0.1, DQuery: 3, DKey: 3, DAttn: 7}
		require.NoError(t, c.Validate())
		text, err := json.Marshal(c)
		require.NoError(t, err)
		var back layers.VariantConfig
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, c, back)
	}
	text, err := json.Marshal(layers.VariantConfig{Layer: layers.Simple})
	require.NoError(t, err)
	require.Equal(t, `{"layer":"simple"}`, string(text))
}

// A causal variant hides what it says; the others do not.
func TestCausalSaysWhatTheWeightsShow(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	for name, l := range selfLayers(t, p) {
		_, weights := apply(t, p, l, numbers(tensor.Float64, 4, 3))
		hidden := true
		for i := range weights {
			query, key := i/4%4, i%4
			if key > query {
				hidden = hidden && weights[i] == 0
			} else {
				require.NotZero(t, weights[i], name)
			}
		}
		require.Equal(t, layers.VariantConfig{Layer: name}.Causal(), hidden, name)
	}
}

func TestWrongVariantsAreRefused(t *testing.T) {
	for _, c := range []struct {
		config layers.VariantConfig
		says   string
	}{
		{layers.VariantConfig{}, `layers: Variant: Layer: got "", want one of [simple self_v1 self_v2 causal multi_head_wrapper multi_head additive]`},
		{layers.VariantConfig{Layer: "Causal"}, `layers: Variant: Layer: got "Causal", want one of [simple self_v1 self_v2 causal multi_head_wrapper multi_head additive]`},
		{layers.VariantConfig{Layer: "self_v1"}, "layers: SelfAttentionV1: In: got 0, want at least 1"},
		{layers.VariantConfig{Layer: "self_v2", DIn: 3}, "layers: SelfAttentionV2: Out: got 0, want at least 1"},
		{layers.VariantConfig{Layer: "causal", DIn: 3, DOut: 2, Dropout: 1}, "layers: CausalAttention: Dropout: got 1, want 0 <= p < 1"},
		{layers.VariantConfig{Layer: "multi_head_wrapper", DIn: 3, DOut: 2}, "layers: MultiHeadAttentionWrapper: NumHeads: got 0, want at least 1"},
		{layers.VariantConfig{Layer: "multi_head", DIn: 3, DOut: 3, NumHeads: 2}, "layers: MultiHeadAttention: NumHeads: got 2, want a divisor of Out=3"},
		{layers.VariantConfig{Layer: "additive", DQuery: 3, DKey: 3}, "layers: AdditiveAttention: Attn: got 0, want at least 1"},
	} {
		require.EqualError(t, c.config.Validate(), c.says)
		l, err := c.config.New(layers.NewParams(tensor.Float32, 1).Scope(""))
		require.EqualError(t, err, c.says)
		require.True(t, l == nil, "no layer, not one that is nil inside: %T", l)
	}
}

// Additive attention by name may also attend from one sequence to another.
func TestAdditiveByName(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	l, err := layers.VariantConfig{Layer: layers.Additive, DQuery: 3, DKey: 4, DAttn: 5}.NewAdditive(p.Scope(""))
	require.NoError(t, err)
	b := layers.NewBuild(p, layers.Eval)
	out, weights, err := l.ForwardWithWeights(b, input(t, b, "query", numbers(tensor.Float64, 2, 3)), input(t, b, "key", numbers(tensor.Float64, 7, 4)))
	require.NoError(t, err)
	require.Equal(t, tensor.Shape{2, 4}, out.Shape())
	require.Equal(t, tensor.Shape{2, 7}, weights.Shape())
}
