package layers_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/config"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// tinyDecoder is a Llama whose every third layer sees a window only and has no positions.
func tinyDecoder() layers.DecoderConfig {
	global := llamaBlock()
	global.Attention.Layout, global.Attention.Mask = "", nil
	local := global
	local.Attention.RoPE, local.Attention.Mask = nil, mask.And(mask.Causal{}, mask.SlidingWindow{Left: 2})
	return layers.DecoderConfig{VocabSize: 13, ContextLength: 11, NumLayers: 4,
		Blocks: []layers.BlockConfig{global, local}, Pattern: []int{0, 0, 1}}
}

func TestDecoderConfigGoesThroughJSON(t *testing.T) {
	full := tinyDecoder()
	full.Norm, full.LearnedPositions = layers.NormConfig{Kind: layers.RMSNorm, Eps: 0.25}, true
	full.EmbeddingScale, full.EmbeddingDropout, full.LogitScale, full.LogitSoftcap = 2, 0.5, 3, 4
	full.TieWordEmbeddings, full.Layout, full.Initializer = true, layers.Llama, layers.GPT2Initializer
	full.Blocks[1].NormPlacement, full.Blocks[1].ResidualScale = layers.SandwichNorm, 0.25
	full.Blocks[1].Parallel, full.Blocks[1].Linear = true, &layers.LinearAttentionConfig{Delta: true}
	full.Blocks[1].Latent = &layers.LatentAttentionConfig{QLoraRank: 5}
	requireNoZero(t, full)
	requireNoZero(t, full.Blocks[1])
	requireRoundTrip(t, full)
	requireRoundTrip(t, tinyDecoder())
	requireRoundTrip(t, tinyGPT().Decoder())

	var got layers.DecoderConfig
	require.NoError(t, config.Decode([]byte(`{"vocab_size": 13, "context_length": 11, "num_layers": 4,
		"pattern": [0, 0, 1], "blocks": [
			{"attention": {"d_in": 12, "num_heads": 6, "num_kv_heads": 2, "rope": {}},
			 "mlp": {"dim_feedforward": 17, "activation": "swiglu"}, "norm": {"kind": "rms"}},
			{"attention": {"d_in": 12, "num_heads": 6, "num_kv_heads": 2, 
			 "mask": {"type": "and", "of": [{"type": "causal"}, {"type": "sliding_window", "left": 2}]}},
			 "mlp": {"dim_feedforward": 17, "activation": "swiglu"}, "norm": {"kind": "rms"}}]}`), &got))
	require.Equal(t, tinyDecoder(), got)
	require.ErrorContains(t, config.Decode([]byte(`{"blocks": [{"attention": {"d_in": 12}}, {"mpl": {}}]}`), &got),
		`blocks[1]: unknown field "mpl"; it has attention, linear, latent, mlp, norm, `)
}

func TestDecoderConfigsAreRefused(t *testing.T) {
	for _, row := range []struct {
		wantErr string
		change  func(c *layers.DecoderConfig)
	}{
		{wantErr: "VocabSize: got 0, want at least 1", change: func(c *layers.DecoderConfig) { c.VocabSize = 0 }},
		{wantErr: "ContextLength: got -1, want at least 1", change: func(c *layers.DecoderConfig) { c.ContextLength = -1 }},
		{wantErr: "ContextLength: got 9223372036854775807, want at most 2147483647",
			change: func(c *layers.DecoderConfig) { c.ContextLength = math.MaxInt }},
		{wantErr: "NumLayers: got 0, want at least 1", change: func(c *layers.DecoderConfig) { c.NumLayers = 0 }},
		{wantErr: "NumLayers: got 1000000000, want at most 65536",
			change: func(c *layers.DecoderConfig) { c.NumLayers = 1_000_000_000 }},
		{wantErr: "VocabSize: got 2147483647 for Blocks[0].Attention.EmbedDim=12, want at most 2147483647 elements",
			change: func(c *layers.DecoderConfig) { c.VocabSize = math.MaxInt32 }},
		{wantErr: "ContextLength: got 2147483647 for Blocks[0].Attention.EmbedDim=12, want at most",
			change: func(c *layers.DecoderConfig) { c.ContextLength, c.LearnedPositions = math.MaxInt32, true }},
		{wantErr: "Blocks: got none, want at least one kind", change: func(c *layers.DecoderConfig) { c.Blocks = nil }},
		{wantErr: "Blocks[1].Attention.NumHeads: got 5, want a divisor of OutDim=12",
			change: func(c *layers.DecoderConfig) { c.Blocks[1].Attention.NumHeads = 5 }},
		{wantErr: "Blocks[0].Attention.EmbedDim: got 3000000000000000000, want at most",
			change: func(c *layers.DecoderConfig) { c.Blocks[0].Attention.EmbedDim = 3e18 }},
		{wantErr: "Blocks[1].MLP.DimFeedforward: got -1, want at least 0",
			change: func(c *layers.DecoderConfig) { c.Blocks[1].MLP.DimFeedforward = -1 }},
		{wantErr: `Blocks[1].NormPlacement: got "both", want one of pre, post, output, sandwich`,
			change: func(c *layers.DecoderConfig) { c.Blocks[1].NormPlacement = "both" }},
		{wantErr: `Blocks[1].Parallel: got true with NormPlacement "post", want another placement`,
			change: func(c *layers.DecoderConfig) { b := &c.Blocks[1]; b.Parallel, b.NormPlacement = true, layers.PostNorm }},
		{wantErr: "Blocks[0].ResidualScale: got NaN, want a finite number of at least 0",
			change: func(c *layers.DecoderConfig) { c.Blocks[0].ResidualScale = math.NaN() }},
		{wantErr: "Blocks[1].Attention.EmbedDim: got 6, want Blocks[0].Attention.EmbedDim=12",
			change: func(c *layers.DecoderConfig) { c.Blocks[1].Attention.EmbedDim = 6 }},
		{wantErr: `Blocks[1].Attention.Layout: got "book", want Layout="llama", or none`,
			change: func(c *layers.DecoderConfig) { c.Blocks[1].Attention.Layout = layers.Book }},
		{wantErr: "Pattern[1]: got 2, want 0 to 1, one of Blocks",
			change: func(c *layers.DecoderConfig) { c.Pattern = []int{0, 2} }},
		{wantErr: "Pattern[0]: got -1, want 0 to 1, one of Blocks",
			change: func(c *layers.DecoderConfig) { c.Pattern = []int{-1} }},
		{wantErr: "Norm.EmbedDim: got 6, want Blocks[0].Attention.EmbedDim=12",
			change: func(c *layers.DecoderConfig) { c.Norm.EmbedDim = 6 }},
		{wantErr: `Norm.Kind: got "batch", want one of layer, rms`,
			change: func(c *layers.DecoderConfig) { c.Norm.Kind = "batch" }},
		{wantErr: "EmbeddingScale: got -1, want a finite number of at least 0",
			change: func(c *layers.DecoderConfig) { c.EmbeddingScale = -1 }},
		{wantErr: "LogitScale: got +Inf, want a finite number of at least 0",
			change: func(c *layers.DecoderConfig) { c.LogitScale = math.Inf(1) }},
		{wantErr: "LogitSoftcap: got NaN, want a finite number of at least 0",
			change: func(c *layers.DecoderConfig) { c.LogitSoftcap = math.NaN() }},
		{wantErr: "EmbeddingDropout: got 1, want a number from 0 to below 1",
			change: func(c *layers.DecoderConfig) { c.EmbeddingDropout = 1 }},
		{wantErr: `Layout: got "torch", want one of gpt2, llama`,
			change: func(c *layers.DecoderConfig) { c.Layout = layers.Torch }},
		{wantErr: `Initializer: got "zeros", want one of gpt2, torch`,
			change: func(c *layers.DecoderConfig) { c.Initializer = "zeros" }},
		{wantErr: `Initializer: got "torch", which only a GPT has, want "gpt2"`,
			change: func(c *layers.DecoderConfig) { c.Initializer = layers.TorchInitializer }},
	} {
		c := tinyDecoder()
		row.change(&c)
		require.ErrorContains(t, c.Validate(), "layers: Decoder: "+row.wantErr)
		p := layers.NewParams(tensor.Float32, 1)
		_, err := layers.NewDecoder(p.Scope(""), c)
		require.ErrorContains(t, err, row.wantErr)
		require.Zero(t, p.Len(), "nothing is left behind")
	}
}

// A GPT's config comes back from its decoder's, and no other decoder has one.
func TestDecoderConfigOfGPT(t *testing.T) {
	for name, change := range map[string]func(c *layers.GPTConfig){
		"tiny":    func(*layers.GPTConfig) {},
		"grouped": func(c *layers.GPTConfig) { c.NumKVHeads, c.DimFeedforward, c.Eps = 1, 5, 0.25 },
		"no bias": func(c *layers.GPTConfig) { c.Bias, c.QKVBias, c.Activation = false, new(true), "silu" },
		"dropout": func(c *layers.GPTConfig) {
			c.EmbeddingDropout, c.AttentionDropout, c.ResidualDropout = 0.1, 0.2, 0.3
		},
		"torch, relu": func(c *layers.GPTConfig) { c.Activation, c.Initializer = "relu", layers.TorchInitializer },
	} {
		want := tinyGPT()
		change(&want)
		require.NoError(t, want.Decoder().Validate())
		got, ok := want.Decoder().GPT()
		require.True(t, ok, name)
		require.Equal(t, want, got, name)
		text, err := json.Marshal(want.Decoder())
		require.NoError(t, err)
		var read layers.DecoderConfig
		require.NoError(t, json.Unmarshal(text, &read))
		_, ok = read.GPT()
		require.True(t, ok, "%s, as JSON", name)
	}
	for name, change := range map[string]func(c *layers.DecoderConfig){
		"scaled":     func(c *layers.DecoderConfig) { c.LogitScale = 2 },
		"positioned": func(c *layers.DecoderConfig) { c.LearnedPositions = false },
		"rotated":    func(c *layers.DecoderConfig) { c.Blocks[0].Attention.RoPE = &graph.RoPEConfig{} },
		"parallel":   func(c *layers.DecoderConfig) { c.Blocks[0].Parallel = true },
		"two kinds":  func(c *layers.DecoderConfig) { c.Blocks = append(c.Blocks, c.Blocks[0]) },
		"no kind":    func(c *layers.DecoderConfig) { c.Blocks = nil },
	} {
		c := tinyGPT().Decoder()
		change(&c)
		_, ok := c.GPT()
		require.False(t, ok, name)
	}
}

// Any JSON is a config that comes back from its own JSON as it was, or an error.
func FuzzDecoderConfig(f *testing.F) {
	for _, c := range []layers.DecoderConfig{tinyDecoder(), tinyGPT().Decoder(), {}} {
		text, err := json.Marshal(c)
		require.NoError(f, err)
		f.Add(text)
		for _, list := range []string{"blocks", "pattern"} {
			f.Add(slices.Concat(text[:len(text)-1], []byte(`,"`+list+`":[]}`)))
			f.Add(slices.Concat([]byte(`{"`+list+`":[],`), text[1:]))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var c layers.DecoderConfig
		if json.Unmarshal(text, &c) != nil || c.Validate() != nil || c.NumLayers > 100 {
			return
		}
		p, err := layers.Declare(layers.NewDecoder, c)
		require.NoError(t, err)
		require.Positive(t, p.Count())
		again, err := json.Marshal(c)
		require.NoError(t, err)
		var back layers.DecoderConfig
		require.NoError(t, json.Unmarshal(again, &back))
		require.Equal(t, c.Validate(), back.Validate())
	})
}
