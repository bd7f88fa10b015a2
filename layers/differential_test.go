package layers_test

import (
	"math"
	"testing"

	"attention/graph/mask"
	"attention/internal/golden"
	"attention/internal/refusal"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// Each layer of a decoder starts with the paper's λ, unless its config has another.
func TestDifferentialLayersOfADecoder(t *testing.T) {
	attention := layers.AttentionConfig{EmbedDim: 8, NumHeads: 2, Differential: &layers.DifferentialConfig{}}
	set := attention
	set.Differential = &layers.DifferentialConfig{LambdaInit: 0.5}
	c := layers.DecoderConfig{VocabSize: 5, ContextLength: 7, NumLayers: 4, Pattern: []int{0, 0, 1},
		Blocks: []layers.BlockConfig{{Attention: attention}, {Attention: set}}}
	require.NoError(t, c.Validate())
	for i, want := range []float64{0.2, 0.8 - 0.6*math.Exp(-0.3), 0.5, 0.8 - 0.6*math.Exp(-0.9)} {
		require.InDelta(t, want, c.Block(i).Attention.Differential.LambdaInit, 1e-15)
	}
	require.Zero(t, c.Blocks[0].Attention.Differential.LambdaInit)
}

// Statistics belong to both softmaxes of each head, weights to heads. The form with one op per step has the outputs of
// the fused form.
func TestDifferentialForms(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 3)
	l := must(layers.NewAttention(p.Scope(""), layers.AttentionConfig{EmbedDim: 12, NumHeads: 3, Mask: mask.Causal{},
		Differential: &layers.DifferentialConfig{}}))
	run := func(change func(b *layers.Build)) ([]float64, *layers.AttentionCall) {
		b := layers.NewBuild(p, layers.Eval)
		change(b)
		out := must(l.Forward(b, input(t, b, "x", golden.Numbers(tensor.Float64, 2, 5, 12))))
		return values(t, out)[0], b.Calls("*")[0]
	}
	out, call := run(func(b *layers.Build) { b.Observe("*") })
	composed, _ := run(func(b *layers.Build) { b.Compose("*") })
	require.InDeltaSlice(t, out, composed, 1e-12)
	require.Equal(t, tensor.Shape{2, 6, 5}, must(call.Stats()).Entropy.Shape())
	require.Equal(t, tensor.Shape{2, 3, 5, 5}, must(call.Weights()).Shape())
	halved, _ := run(func(b *layers.Build) { b.ScaleHeads([]float64{1, 1, 1, 1, 1, 0}, "*") })
	require.NotEqual(t, out, halved)
}

func TestDifferentialErrors(t *testing.T) {
	base := layers.AttentionConfig{EmbedDim: 12, NumHeads: 3, Differential: &layers.DifferentialConfig{}}
	refuses(t, "Attention", layers.NewAttention, base, refusal.Rows{
		{`{"differential": {"lambda_init": 1}}`, "Differential.LambdaInit: got 1, want at least 0 and below 1"},
		{`{"head_dim": 5}`, "HeadDim: got 5 with Differential, want an even number"},
	})
}
