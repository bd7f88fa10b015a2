package layers_test

import (
	"maps"
	"testing"

	"attention/graph"
	"attention/layers"

	"github.com/stretchr/testify/require"
)

// A resolved config says what its zeros mean, and makes the parameters that they make. Resolving twice is resolving once.
func TestResolved(t *testing.T) {
	c := layers.DecoderConfig{VocabSize: 5, ContextLength: 7, NumLayers: 2, Blocks: []layers.BlockConfig{{
		Attention: layers.AttentionConfig{EmbedDim: 12, NumHeads: 3, QKNorm: layers.L2Norm, RoPE: &graph.RoPEConfig{}},
		Norm:      layers.NormConfig{Kind: layers.RMSNorm}}, {
		Attention: layers.AttentionConfig{EmbedDim: 12, NumHeads: 2, Differential: &layers.DifferentialConfig{}}}}}
	r := c.Resolved()
	a := r.Blocks[0].Attention
	require.Equal(t, []any{3, 4, 4, 12, 0.5, 1e-12, 10000.0, 4}, []any{a.NumKVHeads, a.HeadDim, a.ValueDim, a.OutDim, a.Scale,
		a.QKNormEps, a.RoPE.Base, a.RoPE.Dims})
	b := r.Blocks[1]
	require.Equal(t, []any{48, layers.GELU, layers.LayerNorm, 1e-5, layers.PreNorm, 1.0}, []any{b.MLP.DimFeedforward,
		b.MLP.Activation, b.Norm.Kind, b.Norm.Eps, b.NormPlacement, b.ResidualScale})
	require.Equal(t, []any{1e-6, 1.0, 1.0, layers.Llama}, []any{r.Norm.Eps, r.EmbeddingScale, r.LogitScale, r.Layout})
	require.Equal(t, graph.RoPEConfig{}, *c.Blocks[0].Attention.RoPE, "the config is another")
	require.Equal(t, r, r.Resolved())
	c.Pattern, r.Pattern = []int{0, 1}, []int{0, 1}
	require.Equal(t, c.Block(1).Attention.Differential, r.Block(1).Attention.Differential, "λ depends on the layer")
	want, err := layers.Declare(layers.NewDecoder, c)
	require.NoError(t, err)
	got, err := layers.Declare(layers.NewDecoder, r)
	require.NoError(t, err)
	require.Equal(t, maps.Collect(want.Shapes()), maps.Collect(got.Shapes()))
	require.Equal(t, layers.DecoderConfig{}, layers.DecoderConfig{}.Resolved())
}
