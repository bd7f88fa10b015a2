package layers_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/config"
	"attention/internal/refusal"
	"attention/layers"

	"github.com/stretchr/testify/require"
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
	full.Blocks[1].Attention.Latent = &layers.LatentConfig{QLoraRank: 5}
	requireNoZero(t, full)
	requireNoZero(t, full.Blocks[1])
	requireRoundTrip(t, full)
	requireRoundTrip(t, tinyDecoder())
	requireRoundTrip(t, tinyGPT().Decoder())

	var got layers.DecoderConfig
	require.NoError(t, config.Decode([]byte(`{"vocab_size": 13, "context_length": 11, "num_layers": 4,
		"pattern": [0, 0, 1], "blocks": [
			{"attention": {"embed_dim": 12, "num_heads": 6, "num_kv_heads": 2, "rope": {}},
			 "mlp": {"dim_feedforward": 17, "activation": "swiglu"}, "norm": {"kind": "rms"}},
			{"attention": {"embed_dim": 12, "num_heads": 6, "num_kv_heads": 2, 
			 "mask": {"type": "and", "of": [{"type": "causal"}, {"type": "sliding_window", "left": 2}]}},
			 "mlp": {"dim_feedforward": 17, "activation": "swiglu"}, "norm": {"kind": "rms"}}]}`), &got))
	require.Equal(t, tinyDecoder(), got)
	require.ErrorContains(t, config.Decode([]byte(`{"blocks": [{"attention": {"embed_dim": 12}}, {"mpl": {}}]}`), &got),
		`blocks[1]: unknown field "mpl"; it has attention, linear, mlp, norm, `)
}

func TestDecoderConfigsAreRefused(t *testing.T) {
	block := func(i int, patch string) func(*layers.DecoderConfig) {
		return func(c *layers.DecoderConfig) {
			c.Blocks = slices.Clone(c.Blocks)
			require.NoError(t, config.Decode([]byte(patch), &c.Blocks[i]))
		}
	}
	refuses(t, "Decoder", layers.NewDecoder, tinyDecoder(), refusal.Rows{
		{`{"vocab_size": 0}`, "VocabSize: got 0, want at least 1"},
		{`{"context_length": -1}`, "ContextLength: got -1, want at least 1"},
		{`{"context_length": 9223372036854775807}`,
			"ContextLength: got 9223372036854775807, want at most 2147483647"},
		{`{"num_layers": 0}`, "NumLayers: got 0, want at least 1"},
		{`{"num_layers": 1000000000}`, "NumLayers: got 1000000000, want at most 65536"},
		{`{"vocab_size": 2147483647}`,
			"VocabSize: got 2147483647 for Blocks[0].Attention.EmbedDim=12, want at most 2147483647 elements in a weight"},
		{`{"context_length": 2147483647, "learned_positions": true}`,
			"ContextLength: got 2147483647 for Blocks[0].Attention.EmbedDim=12, want at most 2147483647 elements in a weight"},
		{`{"blocks": []}`, "Blocks: got none, want at least one kind"},
		{block(1, `{"attention": {"num_heads": 5}}`), "Blocks[1].Attention.NumHeads: got 5, want a divisor of OutDim=12"},
		{block(0, `{"attention": {"embed_dim": 3000000000000000000}}`),
			"Blocks[0].Attention.EmbedDim: got 3000000000000000000, want at most 2147483647"},
		{block(1, `{"mlp": {"dim_feedforward": -1}}`), "Blocks[1].MLP.DimFeedforward: got -1, want at least 0"},
		{block(1, `{"norm_placement": "both"}`),
			`Blocks[1].NormPlacement: got "both", want one of pre, post, output, sandwich`},
		{block(1, `{"parallel": true, "norm_placement": "post"}`),
			`Blocks[1].Parallel: got true with NormPlacement "post", want another placement`},
		{func(c *layers.DecoderConfig) {
			c.Blocks = []layers.BlockConfig{c.Blocks[0], {Attention: c.Blocks[1].Attention, ResidualScale: math.NaN()}}
		}, "Blocks[1].ResidualScale: got NaN, want a finite number of at least 0"},
		{block(1, `{"attention": {"embed_dim": 6}}`),
			"Blocks[1].Attention.EmbedDim: got 6, want Blocks[0].Attention.EmbedDim=12"},
		{block(1, `{"attention": {"layout": "book"}}`),
			`Blocks[1].Attention.Layout: got "book", want Layout="llama", or none`},
		{`{"pattern": [0, 2]}`, "Pattern[1]: got 2, want 0 to 1, one of Blocks"},
		{`{"pattern": [-1]}`, "Pattern[0]: got -1, want 0 to 1, one of Blocks"},
		{`{"norm": {"embed_dim": 6}}`, "Norm.EmbedDim: got 6, want Blocks[0].Attention.EmbedDim=12"},
		{`{"norm": {"kind": "batch"}}`, `Norm.Kind: got "batch", want one of layer, rms`},
		{`{"embedding_scale": -1}`, "EmbeddingScale: got -1, want a finite number of at least 0"},
		{func(c *layers.DecoderConfig) { c.LogitScale = math.Inf(1) },
			"LogitScale: got +Inf, want a finite number of at least 0"},
		{func(c *layers.DecoderConfig) { c.LogitSoftcap = math.NaN() },
			"LogitSoftcap: got NaN, want a finite number of at least 0"},
		{`{"embedding_dropout": 1}`, "EmbeddingDropout: got 1, want a number from 0 to below 1"},
		{`{"layout": "torch"}`, `Layout: got "torch", want one of gpt2, llama`},
		{`{"initializer": "zeros"}`, `Initializer: got "zeros", want one of gpt2, torch`},
		{`{"initializer": "torch"}`, `Initializer: got "torch", which only a GPT has, want "gpt2"`},
	})
}

// A GPT's config can be recovered from its decoder's config, and no other decoder gives one.
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
		text := must(json.Marshal(want.Decoder()))
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

// Any JSON gives an error, or a config that is the same after writing and reading its own JSON.
func FuzzDecoderConfig(f *testing.F) {
	for _, c := range []layers.DecoderConfig{tinyDecoder(), tinyGPT().Decoder(), {}} {
		text := must(json.Marshal(c))
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
		require.Positive(t, must(layers.Declare(layers.NewDecoder, c)).Count())
		again := must(json.Marshal(c))
		var back layers.DecoderConfig
		require.NoError(t, json.Unmarshal(again, &back))
		require.Equal(t, c.Validate(), back.Validate())
	})
}
