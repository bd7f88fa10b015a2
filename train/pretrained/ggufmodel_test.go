package pretrained_test

import (
	"math"
	"path/filepath"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// refusedDecoders are models for which llama.cpp has no form.
var refusedDecoders = []struct {
	want   string
	config layers.DecoderConfig
}{
	{"llama.cpp has no form for blocks of {\"attention\":{\"embed_dim\":24,\"num_heads\":3,\"sinks\":true}," +
		"\"mlp\":{\"activation\":\"swiglu\"},\"norm\":{\"kind\":\"rms\"},\"norm_placement\":\"pre\"}, " +
		"but those of gpt2, llama, ",
		of(func(b *layers.BlockConfig) { b.Attention.Sinks = true })},
	{"biases: got some of the attention's output or the MLP, want none", of(outBias)},
	{"qwen3: biases of queries, keys and values: got true, want false", of(qkNorm, qkvBias)},
	{"olmo2: heads: got 3 of width 12, want the width E=24 in all", of(wideHeads, olmo2, func(b *layers.BlockConfig) {
		b.Attention.NumHeads, b.Attention.NumKVHeads = 3, 3
	})},
	{"qwen3: norms of queries and keys: got eps 1e-06, want the blocks' 1e-05", of(qkNorm,
		func(b *layers.BlockConfig) { b.Attention.QKNormEps = 0 })},
	{"llama: scale of the scores: got 0.3, want 0.35355339059327373", of(func(b *layers.BlockConfig) {
		b.Attention.Scale = 0.3
	})},
	{"qwen3: positions: got interleaved pairs, want (i, i + 4)", of(qkNorm,
		turned(graph.RoPEConfig{Interleaved: true}))},
	{"llama: positions: got 2 of 8 elements of a head turned, want all", of(turned(graph.RoPEConfig{Dims: 2}))},
	{"gptneox: positions: got the end of each head turned, want its start", of(neoX,
		turned(graph.RoPEConfig{Dims: 2, AtEnd: true}))},
	{"\"latent\":{", of(func(b *layers.BlockConfig) { b.Attention.Latent = &layers.LatentConfig{} })},
	{"qwen3: positions: got the scaling llama3, want none, linear, ntk or yarn", of(qkNorm,
		turned(graph.RoPEConfig{Scaling: graph.Llama3Scaling, Factor: 8, OriginalLength: 8}))},
	{"positions: got yarn with betas or a factor of its own, want 1, 32 and 0.1·ln(factor) + 1", of(turned(
		graph.RoPEConfig{Scaling: graph.YaRNScaling, Factor: 8, OriginalLength: 8, BetaFast: 16}))},
	{"llama: layer 0: rotary positions: got false, want true", of(unturned)},
	{"llama: layer 1: rotary positions: got false, want true", layers.DecoderConfig{Pattern: []int{0, 1},
		Blocks: []layers.BlockConfig{blocks(), blocks(unturned)}}},
	{"llama: layer 1: got another kind of block than in layer 0, want the same", layers.DecoderConfig{
		Pattern: []int{0, 1}, Blocks: []layers.BlockConfig{blocks(), blocks(grouped)}}},
	{"llama: layer 0: mask: got mask.SlidingWindow {Left:2 Right:1", of(func(b *layers.BlockConfig) {
		b.Attention.Mask = mask.SlidingWindow{Left: 2, Right: 1}
	})},
	{"llama: learned positions: got true, want false", layers.DecoderConfig{LearnedPositions: true,
		Blocks: []layers.BlockConfig{blocks()}}},
	{"llama: scale of the logits: got 2, want 1", layers.DecoderConfig{LogitScale: 2, Blocks: of().Blocks}},
	{"llama: scale of the embeddings: got 2, want 1", layers.DecoderConfig{EmbeddingScale: 2,
		Blocks: []layers.BlockConfig{blocks()}}},
	{"gemma2: caps of scores and logits: got 5 and 0, want both in gemma2 and none elsewhere", layers.DecoderConfig{
		EmbeddingScale: math.Sqrt(24), Blocks: []layers.BlockConfig{blocks(gemma2)}}},
	{"gemma3: scale of the embeddings: got 1, want √24", layers.DecoderConfig{EmbeddingScale: 1,
		Blocks: []layers.BlockConfig{blocks(gemma3)}}},
	{"gemma3: layer 2: window: got 0, want 3, and none in every 2-th layer", layers.DecoderConfig{NumLayers: 4,
		EmbeddingScale: math.Sqrt(24), Pattern: []int{0, 1, 1, 1},
		Blocks: []layers.BlockConfig{blocks(gemma3, window(3)), blocks(gemma3)}}},
	{"llama: last norm: got {EmbedDim:24 Kind:layer Bias:false UnitOffset:false Eps:1e-05}, want that of the blocks",
		layers.DecoderConfig{Norm: layers.NormConfig{Kind: layers.LayerNorm}, Blocks: of().Blocks}},
}

// The error about a model for which llama.cpp has no form is one line that names the reason, and no file is written.
func TestGGUFRefuses(t *testing.T) {
	for _, row := range refusedDecoders {
		path := filepath.Join(t.TempDir(), "model.gguf")
		require.ErrorContains(t, decoder(t, row.config).WriteGGUF(path, "f32"), row.want)
		require.NoFileExists(t, path)
	}
	g := decoder(t, of())
	g.Tokenizer = nil
	path := filepath.Join(t.TempDir(), "model.gguf")
	require.EqualError(t, g.WriteGGUF(path, "f32"), "pretrained: "+path+": tokenizer: got none, "+
		"want one: the file holds it")
	g = decoder(t, of())
	extra := g.Params.Scope("model.layers.0.self_attn.q_proj.extra")
	_, err := layers.NewLinear(extra, layers.LinearConfig{InFeatures: 2, OutFeatures: 2})
	require.NoError(t, err)
	require.EqualError(t, g.WriteGGUF(path, "f32"), "pretrained: "+path+": parameter "+
		"model.layers.0.self_attn.q_proj.extra.weight: llama.cpp's form llama has none of this kind")
	err = (&pretrained.GPT{}).WriteGGUF(path, "f32")
	require.ErrorContains(t, err, "got a GPT without a Model or Params, want both")
}
