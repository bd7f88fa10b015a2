package main

import (
	"attention/graph"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// attentionCall is an Attention with any of its options, and how it is called.
type attentionCall struct {
	about             string
	config            layers.AttentionConfig
	query, key, value []int                                            // the latter may be nil
	more              func(g *checkedGraph, in *layers.AttentionInput) // adds what else there is; may be nil
}

func attentionCalls() []attentionCall {
	plain := layers.AttentionConfig{Width: 5, NumHeads: 2, HeadDim: 3}
	with := func(change func(c *layers.AttentionConfig)) layers.AttentionConfig {
		c := plain
		change(&c)
		return c
	}
	x, key := []int{2, 3, 5}, []int{2, 7, 5}
	return []attentionCall{
		{"(T, Width)", plain, []int{3, 5}, nil, nil, nil},
		{"T=1, S=1, sinks", with(func(c *layers.AttentionConfig) { c.Sinks = true }), []int{1, 5}, nil, nil, nil},
		{"torch, keys and values of other widths, grouped", layers.AttentionConfig{Width: 5, KeyWidth: 2, ValueWidth: 3, Out: 7, NumHeads: 4,
			NumKVHeads: 2, HeadDim: 3, ValueDim: 2, QKVBias: true, OutBias: true, Layout: layers.Torch}, x, []int{2, 7, 2}, []int{2, 7, 3}, nil},
		{"torch, added keys, padding", with(func(c *layers.AttentionConfig) {
			c.Layout, c.QKVBias, c.AddBiasKV, c.AddZeroAttn = layers.Torch, true, true, true
		}), x, key, nil, func(g *checkedGraph, in *layers.AttentionInput) {
			in.Mask = graph.KeyLengths{Lengths: g.ids("lengths", []int{0, 4}, 2)}
		}},
		{"gpt2, causal, dropouts", with(func(c *layers.AttentionConfig) {
			c.Layout, c.QKVBias, c.OutBias, c.Mask = layers.GPT2, true, true, graph.Causal{}
			c.Dropout, c.ContextDropout, c.OutDropout = 0.3, 0.25, 0.1
		}), x, nil, nil, nil},
		{"gpt2, key and value", with(func(c *layers.AttentionConfig) { c.Layout, c.QKVBias = layers.GPT2, true }), x, key, nil, nil},
		{"llama, rope, rms norm, causal, grouped", layers.AttentionConfig{Width: 5, NumHeads: 4, NumKVHeads: 2, HeadDim: 4, Layout: layers.Llama,
			RoPE: &graph.RoPEConfig{}, QKNorm: layers.RMSNorm, Mask: graph.Causal{}}, x, nil, nil, nil},
		{"interleaved rope in part, positions, l2 norm", with(func(c *layers.AttentionConfig) {
			c.RoPE, c.QKNorm = &graph.RoPEConfig{Dims: 2, Interleaved: true}, layers.L2Norm
		}), x, key, nil, func(g *checkedGraph, in *layers.AttentionInput) {
			in.Positions, in.KeyPositions = g.ids("positions", []int{3, -1, 7}, 3), g.ids("key_positions", []int{2, 7, 1, 8, -2, 8, 1}, 7)
		}},
		{"three biases", with(func(c *layers.AttentionConfig) {
			c.Align, c.ALiBi, c.RelativeBias = graph.LowerRight, true, &layers.RelativeBiasConfig{Buckets: 6, MaxDistance: 3}
		}), x, key, nil, func(g *checkedGraph, in *layers.AttentionInput) { in.Bias = g.input("bias", 2, 1, 3, 7) }},
		{"softcap, window, gate, sinks", with(func(c *layers.AttentionConfig) {
			c.Softcap, c.Mask, c.Gate, c.Sinks = 0.7, graph.SlidingWindow{Left: 1, Right: 1, Align: graph.UpperLeft}, true, true
		}), x, key, nil, nil},
		{"renormalized, segments", with(func(c *layers.AttentionConfig) { c.Renormalize = true }), x, nil, nil, func(g *checkedGraph, in *layers.AttentionInput) {
			in.Mask = graph.Segments{Query: g.ids("segments", []int{1, 2, 1, 3, 3, 3}, 2, 3)}
		}},
	}
}

// attentionLayers checks each call by both forms.
func attentionLayers() []gradcheckCase {
	var cases []gradcheckCase
	for _, c := range attentionCalls() {
		input := func(g *checkedGraph) (in layers.AttentionInput) {
			in.Query = g.input("query", c.query...)
			if c.key != nil {
				in.Key = g.input("key", c.key...)
			}
			if c.value != nil {
				in.Value = g.input("value", c.value...)
			}
			if c.more != nil {
				c.more(g, &in)
			}
			return in
		}
		cases = append(cases,
			layerCase("Attention", c.about, layers.NewAttention, c.config, layers.Train,
				func(l *layers.Attention, b *layers.Build, g *checkedGraph) (*G.Node, error) {
					return l.Forward(b, input(g))
				}),
			layerCase("Attention", c.about+", with weights", layers.NewAttention, c.config, layers.Train,
				func(l *layers.Attention, b *layers.Build, g *checkedGraph) (*G.Node, error) {
					out, _, err := l.ForwardWithWeights(b, input(g))
					return out, err
				}))
	}
	return cases
}
