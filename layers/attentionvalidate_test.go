package layers_test

import (
	"math"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func TestAttentionConfigsThatAreRefused(t *testing.T) {
	const huge = math.MaxInt32 + 1
	for _, row := range []struct {
		wantErr string
		change  func(c *layers.AttentionConfig)
	}{
		{wantErr: "EmbedDim: got 0, want at least 1", change: func(c *layers.AttentionConfig) { c.EmbedDim = 0 }},
		{wantErr: "NumHeads: got -1, want at least 1", change: func(c *layers.AttentionConfig) { c.NumHeads = -1 }},
		{wantErr: "KDim: got -1, want at least 0", change: func(c *layers.AttentionConfig) { c.KDim = -1 }},
		{wantErr: "VDim: got -1, want at least 0", change: func(c *layers.AttentionConfig) { c.VDim = -1 }},
		{wantErr: "OutDim: got -1, want at least 0", change: func(c *layers.AttentionConfig) { c.OutDim = -1 }},
		{wantErr: "NumKVHeads: got -1, want at least 0", change: func(c *layers.AttentionConfig) { c.NumKVHeads = -1 }},
		{wantErr: "HeadDim: got -1, want at least 0", change: func(c *layers.AttentionConfig) { c.HeadDim = -1 }},
		{wantErr: "ValueDim: got -1, want at least 0", change: func(c *layers.AttentionConfig) { c.ValueDim = -1 }},
		{wantErr: "NumHeads: got 3, want a divisor of OutDim=5",
			change: func(c *layers.AttentionConfig) { c.HeadDim = 0 }},
		{wantErr: "NumKVHeads: got 2, want 0 or a divisor of NumHeads=3",
			change: func(c *layers.AttentionConfig) { c.NumKVHeads = 2 }},
		{wantErr: "NumKVHeads: got 6, want 0 or a divisor of NumHeads=3",
			change: func(c *layers.AttentionConfig) { c.NumKVHeads = 6 }},
		{wantErr: "Scale: got -1, want a finite number of at least 0",
			change: func(c *layers.AttentionConfig) { c.Scale = -1 }},
		{wantErr: "Softcap: got NaN, want a finite number of at least 0",
			change: func(c *layers.AttentionConfig) { c.Softcap = math.NaN() }},
		{wantErr: "QKNormEps: got +Inf, want a finite number of at least 0",
			change: func(c *layers.AttentionConfig) { c.QKNormEps = math.Inf(1) }},
		{wantErr: "RoPE.Heads: got 3, want 0: they are NumHeads",
			change: func(c *layers.AttentionConfig) { c.RoPE = &graph.RoPEConfig{Heads: 3} }},
		{wantErr: "Mask: got a prefix of -1 keys, want at least 0",
			change: func(c *layers.AttentionConfig) { c.Mask = mask.Prefix{N: -1} }},
		{wantErr: "Mask: got nil in And, Or or Not, want a mask",
			change: func(c *layers.AttentionConfig) { c.Mask = mask.Not(nil) }},
		{wantErr: "Mask: got Alignment(7), want one of square, upper_left, lower_right",
			change: func(c *layers.AttentionConfig) { c.Mask = mask.Or(mask.All{}, mask.SlidingWindow{Align: 7}) }},
		{wantErr: "OutStd: got -1, want a finite number of at least 0",
			change: func(c *layers.AttentionConfig) { c.OutStd = -1 }},
		{wantErr: "Dropout: got 1, want a number from 0 to below 1",
			change: func(c *layers.AttentionConfig) { c.Dropout = 1 }},
		{wantErr: "ContextDropout: got NaN, want a number from 0 to below 1",
			change: func(c *layers.AttentionConfig) { c.ContextDropout = math.NaN() }},
		{wantErr: "OutDropout: got -0.5, want a number from 0 to below 1",
			change: func(c *layers.AttentionConfig) { c.OutDropout = -0.5 }},
		{wantErr: `QKNorm: got "layer", want one of l2, rms`,
			change: func(c *layers.AttentionConfig) { c.QKNorm = "layer" }},
		{wantErr: "RoPE.Dims: got 6, want an even number from 0 to D=4",
			change: func(c *layers.AttentionConfig) { c.RoPE = &graph.RoPEConfig{Dims: 6} }},
		{wantErr: "Align: got Alignment(7), want one of square, upper_left, lower_right",
			change: func(c *layers.AttentionConfig) { c.Align = 7 }},
		{wantErr: "Mask: got one that holds a node, want it in the input of a call",
			change: func(c *layers.AttentionConfig) {
				c.Mask = mask.And(mask.Causal{}, mask.KeyLengths{Lengths: new(G.Node)})
			}},
		{wantErr: "ContextLength: got -1, want at least 0",
			change: func(c *layers.AttentionConfig) { c.ContextLength = -1 }},
		{wantErr: "OutDim: got 5 with ContextOnly, want 0 or the heads' 12",
			change: func(c *layers.AttentionConfig) { c.ContextOnly, c.OutDim = true, 5 }},
		{wantErr: `Score: got ScoreFunc "mine" without Score or Slope, want both`,
			change: func(c *layers.AttentionConfig) { c.Score = &graph.ScoreFunc{Name: "mine"} }},
		{wantErr: `ScoreGraph: got ScoreGraph "mine" without Of, want a function`,
			change: func(c *layers.AttentionConfig) { c.ScoreGraph = &layers.ScoreGraph{Name: "mine"} }},
		{wantErr: "SigmoidBias: got 1, want a finite number below 0, or 0",
			change: func(c *layers.AttentionConfig) { c.Sigmoid, c.SigmoidBias = true, 1 }},
		{wantErr: "NumHeads: got 65537, want at most 65536",
			change: func(c *layers.AttentionConfig) { c.NumHeads = 65537 }},
		{wantErr: `Layout: got "jax", want one of book, torch, gpt2, llama, per_head, raw`,
			change: func(c *layers.AttentionConfig) { c.Layout = "jax" }},
		{wantErr: "RelativeBias.Buckets: got 7, want an even number from 4 on, or if Unidirectional any from 2 on",
			change: func(c *layers.AttentionConfig) { c.RelativeBias = &layers.RelativeBiasConfig{Buckets: 7} }},
		{wantErr: "RelativeBias.Buckets: got -2, want an even number from 4 on, or if Unidirectional any from 2 on",
			change: func(c *layers.AttentionConfig) {
				c.RelativeBias = &layers.RelativeBiasConfig{Buckets: -2, Unidirectional: true}
			}},
		{wantErr: "RelativeBias.MaxDistance: got 8, want more than the 8 distances that have a bucket each",
			change: func(c *layers.AttentionConfig) { c.RelativeBias = &layers.RelativeBiasConfig{MaxDistance: 8} }},
		{wantErr: "EmbedDim: got 2147483648, want at most 2147483647",
			change: func(c *layers.AttentionConfig) { c.EmbedDim = huge }},
		{wantErr: "HeadDim: got 2147483648, want at most 2147483647",
			change: func(c *layers.AttentionConfig) { c.HeadDim = huge }},
		{wantErr: "NumHeads: got 65536, which are 2147483648 wide together, want at most 2147483647",
			change: func(c *layers.AttentionConfig) { c.NumHeads, c.HeadDim, c.ValueDim = 65536, 32768, 1 }},
		{wantErr: "RelativeBias.MaxDistance: got 2147483648, want at most 2147483647",
			change: func(c *layers.AttentionConfig) {
				c.RelativeBias = &layers.RelativeBiasConfig{MaxDistance: huge}
			}},
		{wantErr: "W_query.weight: shape (12, 2147483647), want at most 2147483647 elements",
			change: func(c *layers.AttentionConfig) { c.EmbedDim = huge - 1 }},
	} {
		c := but(plainAttention, row.change)
		row.wantErr = "layers: Attention: " + row.wantErr
		require.EqualError(t, c.Validate(), row.wantErr)
		p := layers.NewParams(tensor.Float32, 1)
		_, err := layers.NewAttention(p.Scope(""), c)
		require.EqualError(t, err, row.wantErr)
		require.Zero(t, p.Len(), "nothing was made")
	}
	require.NoError(t, plainAttention.Validate())
}
