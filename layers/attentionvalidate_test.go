package layers_test

import (
	"math"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/refusal"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

func TestAttentionConfigsThatAreRefused(t *testing.T) {
	refuses(t, "Attention", layers.NewAttention, plainAttention, refusal.Rows{
		{`{"embed_dim": 0}`, "EmbedDim: got 0, want at least 1"},
		{`{"num_heads": -1}`, "NumHeads: got -1, want at least 1"},
		{`{"kdim": -1}`, "KDim: got -1, want at least 0"},
		{`{"vdim": -1}`, "VDim: got -1, want at least 0"},
		{`{"out_dim": -1}`, "OutDim: got -1, want at least 0"},
		{`{"num_kv_heads": -1}`, "NumKVHeads: got -1, want at least 0"},
		{`{"head_dim": -1}`, "HeadDim: got -1, want at least 0"},
		{`{"value_dim": -1}`, "ValueDim: got -1, want at least 0"},
		{`{"head_dim": 0}`, "NumHeads: got 3, want a divisor of OutDim=5"},
		{`{"num_kv_heads": 2}`, "NumKVHeads: got 2, want 0 or a divisor of NumHeads=3"},
		{`{"num_kv_heads": 6}`, "NumKVHeads: got 6, want 0 or a divisor of NumHeads=3"},
		{`{"scale": -1}`, "Scale: got -1, want a finite number of at least 0"},
		{func(c *layers.AttentionConfig) { c.Softcap = math.NaN() },
			"Softcap: got NaN, want a finite number of at least 0"},
		{func(c *layers.AttentionConfig) { c.QKNormEps = math.Inf(1) },
			"QKNormEps: got +Inf, want a finite number of at least 0"},
		{func(c *layers.AttentionConfig) { c.RoPE = &graph.RoPEConfig{Heads: 3} },
			"RoPE.Heads: got 3, want 0: they are NumHeads"},
		{func(c *layers.AttentionConfig) { c.Mask = mask.Func{Name: "mine"} },
			`Mask: got Func "mine" without a function, want Visible or VisibleAt`},
		{func(c *layers.AttentionConfig) { c.Mask = mask.Prefix{N: -1} }, "Mask: got a prefix of -1 keys, want at least 0"},
		{func(c *layers.AttentionConfig) { c.Mask = mask.Not(nil) }, "Mask: got nil in And, Or or Not, want a mask"},
		{func(c *layers.AttentionConfig) { c.Mask = mask.Or(mask.All{}, mask.SlidingWindow{Align: 7}) },
			"Mask: got Alignment(7), want one of square, upper_left, lower_right"},
		{`{"out_std": -1}`, "OutStd: got -1, want a finite number of at least 0"},
		{`{"dropout": 1}`, "Dropout: got 1, want a number from 0 to below 1"},
		{func(c *layers.AttentionConfig) { c.ContextDropout = math.NaN() },
			"ContextDropout: got NaN, want a number from 0 to below 1"},
		{`{"out_dropout": -0.5}`, "OutDropout: got -0.5, want a number from 0 to below 1"},
		{`{"qk_norm": "layer"}`, `QKNorm: got "layer", want one of l2, rms`},
		{`{"rope": {"dims": 6}}`, "RoPE.Dims: got 6, want an even number from 0 to D=4"},
		{func(c *layers.AttentionConfig) { c.Align = 7 },
			"Align: got Alignment(7), want one of square, upper_left, lower_right"},
		{func(c *layers.AttentionConfig) {
			c.Mask = mask.And(mask.Causal{}, mask.KeyLengths{Lengths: new(G.Node)})
		}, "Mask: got one that holds a node, want it in the input of a call"},
		{`{"context_length": -1}`, "ContextLength: got -1, want at least 0"},
		{`{"context_only": true, "out_dim": 5}`, "OutDim: got 5 with ContextOnly, want 0 or the heads' 12"},
		{func(c *layers.AttentionConfig) { c.Score = &graph.ScoreFunc{Name: "mine"} },
			`Score: got ScoreFunc "mine" without Score or Slope, want both`},
		{func(c *layers.AttentionConfig) { c.ScoreGraph = &layers.ScoreGraph{Name: "mine"} },
			`ScoreGraph: got ScoreGraph "mine" without Of, want a function`},
		{`{"sigmoid": true, "sigmoid_bias": 1}`, "SigmoidBias: got 1, want a finite number below 0, or 0"},
		{`{"num_heads": 65537}`, "NumHeads: got 65537, want at most 65536"},
		{`{"layout": "jax"}`, `Layout: got "jax", want one of book, torch, gpt2, llama, per_head, raw, bert`},
		{`{"relative_bias": {"buckets": 7}}`,
			"RelativeBias.Buckets: got 7, want an even number from 4 on, or if Unidirectional any from 2 on"},
		{`{"relative_bias": {"buckets": -2, "unidirectional": true}}`,
			"RelativeBias.Buckets: got -2, want an even number from 4 on, or if Unidirectional any from 2 on"},
		{`{"relative_bias": {"max_distance": 8}}`,
			"RelativeBias.MaxDistance: got 8, want more than the 8 distances that have a bucket each"},
		{`{"embed_dim": 2147483648}`, "EmbedDim: got 2147483648, want at most 2147483647"},
		{`{"head_dim": 2147483648}`, "HeadDim: got 2147483648, want at most 2147483647"},
		{`{"num_heads": 65536, "head_dim": 32768, "value_dim": 1}`,
			"NumHeads: got 65536, which are 2147483648 wide together, want at most 2147483647"},
		{`{"relative_bias": {"max_distance": 2147483648}}`,
			"RelativeBias.MaxDistance: got 2147483648, want at most 2147483647"},
		{`{"embed_dim": 2147483647}`, "W_query.weight: shape (12, 2147483647), want at most 2147483647 elements"},
	})
}
