package layers_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/config"
	"attention/layers"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
)

// requireRoundTrip checks that a config is the same after writing and reading its JSON, with either reader.
func requireRoundTrip[C any](t *testing.T, c C) {
	t.Helper()
	text := must(json.Marshal(c))
	var back, strict C
	require.NoError(t, json.Unmarshal(text, &back), "%s", text)
	require.Equal(t, c, back, "%s", text)
	require.NoError(t, config.Decode(text, &strict), "%s", text)
	require.Equal(t, c, strict, "%s", text)
}

// Every config is the same after writing and reading its JSON.
func TestConfigsGoThroughJSON(t *testing.T) {
	for _, c := range attentionCases() {
		requireRoundTrip(t, c)
	}
	full := layers.AttentionConfig{
		EmbedDim: 1, KDim: 2, VDim: 3, OutDim: 4, NumHeads: 5, NumKVHeads: 6, HeadDim: 7, ValueDim: 8,
		QKVBias: true, OutBias: true, ContextOnly: true, Layout: layers.PerHead, OutStd: 0.5, ContextLength: 9,
		Mask: mask.Not(mask.Prefix{N: 2}), Align: mask.LowerRight, Scale: 0.25, Softcap: 0.125,
		Sparse: &graph.BlockSparse{BlockSize: 2, Blocks: 3}, Latent: &layers.LatentConfig{VHeadDim: 3},
		Differential: &layers.DifferentialConfig{LambdaInit: 0.5},
		QKNorm:       layers.L2Norm, QKNormEps: 1e-3, QKNormWhole: true, QKNormOffset: true,
		RoPE: &graph.RoPEConfig{Dims: 4, Scaling: graph.NTKScaling, Factor: 2}, ALiBi: true,
		RelativeBias: &layers.RelativeBiasConfig{Buckets: 10, MaxDistance: 11, Unidirectional: true},
		Forget:       true, Sigmoid: true, SigmoidBias: -2, Sinks: true, Gate: true, AddBiasKV: true, AddZeroAttn: true,
		Dropout: 0.1, ContextDropout: 0.2, OutDropout: 0.3,
	}
	requireNoZero(t, full, "Score", "ScoreGraph") // functions have no JSON
	requireRoundTrip(t, full)
	mlp := layers.MLPConfig{EmbedDim: 1, DimFeedforward: 2, Activation: layers.SwiGLU, Bias: true,
		Dropout: 0.1, HiddenDropout: 0.2, Layout: layers.Llama, OutStd: 0.5}
	norm := layers.NormConfig{EmbedDim: 1, Kind: layers.RMSNorm, Bias: true, UnitOffset: true, Eps: 1e-3}
	block := layers.BlockConfig{Attention: full, MLP: mlp, Norm: norm, NormPlacement: layers.PostNorm}
	gpt := layers.GPTConfig{
		VocabSize: 1, ContextLength: 2, EmbedDim: 3, NumLayers: 4, NumHeads: 5, NumKVHeads: 6, DimFeedforward: 7,
		Activation: "relu", Eps: 1e-3, EmbeddingDropout: 0.1, AttentionDropout: 0.2, ResidualDropout: 0.3,
		TieWordEmbeddings: true, Bias: true, QKVBias: new(true), Initializer: layers.TorchInitializer,
	}
	seq2seq := layers.Seq2SeqConfig{
		SourceVocabSize: 1, TargetVocabSize: 2, ContextLength: 3, EmbedDim: 4, NumEncoderLayers: 5, NumDecoderLayers: 6,
		NumHeads: 7, NumKVHeads: 8, DimFeedforward: 9, Activation: layers.ReLU, PostNorm: true,
		ShareEmbeddings: true, TieWordEmbeddings: true, Sinusoidal: true, Dropout: 0.1,
	}
	for _, c := range []any{mlp, norm, gpt, seq2seq} {
		requireNoZero(t, c)
	}
	requireRoundTrip(t, mlp)
	requireRoundTrip(t, norm)
	requireRoundTrip(t, block)
	requireRoundTrip(t, layers.BlockConfig{Attention: mha})
	requireRoundTrip(t, layers.DecoderBlockConfig{Block: block, Cross: mha})
	requireRoundTrip(t, layers.DecoderBlockConfig{Block: block})
	requireRoundTrip(t, gpt)
	requireRoundTrip(t, seq2seq)
	requireRoundTrip(t, layers.LinearConfig{InFeatures: 1, OutFeatures: 2, Bias: true})
	requireRoundTrip(t, layers.AdditiveAttentionConfig{QueryDim: 1, KeyDim: 2, AttnDim: 3})
	requireRoundTrip(t, chapter.MultiHeadWrapper(3, 2, 2))
}

// requireNoZero checks that a test's config sets every field except some.
func requireNoZero(t *testing.T, c any, except ...string) {
	t.Helper()
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		require.Equal(t, slices.Contains(except, name), v.Field(i).IsZero(), "%T.%s", c, name)
	}
}

// Absent fields keep their values.
func TestAttentionConfigKeepsAbsentFields(t *testing.T) {
	lower := mask.LowerRight
	for _, c := range []struct {
		text   string
		want   layers.AttentionConfig
		reason string
	}{
		{text: `{}`, want: layers.AttentionConfig{}, reason: "nothing is given"},
		{text: `{"align": "lower_right"}`, want: layers.AttentionConfig{Align: lower}, reason: "no mask"},
		{text: `{"mask": {"type": "prefix", "n": 3}, "align": "lower_right"}`,
			want: layers.AttentionConfig{Align: lower, Mask: mask.Prefix{N: 3}}, reason: "a mask"},
	} {
		var got layers.AttentionConfig
		require.NoError(t, json.Unmarshal([]byte(c.text), &got), c.text)
		require.Equal(t, c.want, got, "%s: %s", c.text, c.reason)
	}
	got := having(llama, func(c *layers.AttentionConfig) { c.Dropout = 0.5 })
	want := having(got, func(c *layers.AttentionConfig) { c.NumHeads, c.RoPE = 4, &graph.RoPEConfig{Base: 500} })
	require.NoError(t, json.Unmarshal([]byte(`{"num_heads": 4, "rope": {"base": 500}}`), &got))
	require.Equal(t, want, got)
	require.Zero(t, llama.RoPE.Base, "a config that shares a pointer stays as it was")
}

func TestWrongAttentionConfigsAreNotRead(t *testing.T) {
	for _, c := range []struct{ text, wantErr string }{
		{text: `{"embed_dim": "x"}`, wantErr: `embed_dim: got "x", want a whole number`},
		{text: `{"width": 3}`, wantErr: `unknown field "width"; it has `},
		{text: `{"rope": {"dim": 2}}`, wantErr: `rope: unknown field "dim"; it has `},
		{text: `{"align": "left"}`, wantErr: `align: got "left", want one of `},
		{text: `{"mask": {"type": "tree"}}`, wantErr: `mask.type: got "tree", want one of `},
	} {
		got := mha
		require.ErrorContains(t, config.JSON(config.Decode([]byte(c.text), &got)), c.wantErr, c.text)
		require.Equal(t, mha, got, "nothing is set")
	}
}

// Any JSON gives an error, or a config that is the same after writing and reading its own JSON.
func FuzzAttentionConfig(f *testing.F) {
	for _, c := range []layers.AttentionConfig{mha, llama, everything, {}} {
		f.Add(must(json.Marshal(c)))
	}
	for _, text := range []string{
		`{"embed_dim":4,"num_heads":2,"mask":{"type":"causal","align":"lower_right"},"sinks":true}`, `null`, `[]`,
		`{"mask":null}`, `{"embed_dim":4,"num_heads":2,"mask":{"type":"or","of":[]}}`,
		`{"embed_dim":4,"num_heads":2,"mask":{"type":"or","of":[{"type":"all"},{"type":"not","of":{"type":"causal"}}]}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var c layers.AttentionConfig
		if json.Unmarshal(text, &c) != nil || c.Validate() != nil {
			return
		}
		again := must(json.Marshal(c))
		var back layers.AttentionConfig
		require.NoError(t, json.Unmarshal(again, &back), "%s", again)
		require.Equal(t, c, back)
		require.Positive(t, must(layers.Declare(layers.NewAttention, c)).Count())
	})
}
