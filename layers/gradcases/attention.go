package gradcases

import (
	"attention/graph"
	"attention/graph/gradcases"
	"attention/graph/mask"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// call is an Attention with any of its options, and how it is called.
type call struct {
	about             string
	config            layers.AttentionConfig
	query, key, value []int                                         // key and value may be nil
	more              []gradcases.Input                             // what else there is
	set               func(in *layers.AttentionInput, more G.Nodes) // puts more into the input; may be nil
	reason            string
}

// attentions returns two cases of each call: fused and observed.
func attentions() []Case {
	var cases []Case
	for _, c := range calls() {
		forward := func(l *layers.Attention, b *layers.Build, in G.Nodes) (*G.Node, error) {
			return l.Attend(b, c.input(in))
		}
		fused := Case{Layer: "Attention", About: c.about, Reason: c.reason, Mode: layers.Train, Inputs: c.inputs(),
			New: made(layers.NewAttention, c.config, forward)}
		cases = append(cases, fused, fused.observed())
	}
	return cases
}

func (c call) inputs() []gradcases.Input {
	inputs := []gradcases.Input{gradcases.Float("query", c.query...)}
	if c.key != nil {
		inputs = append(inputs, gradcases.Float("key", c.key...))
	}
	if c.value != nil {
		inputs = append(inputs, gradcases.Float("value", c.value...))
	}
	return append(inputs, c.more...)
}

// input returns the layer's input of the nodes of inputs.
func (c call) input(nodes G.Nodes) layers.AttentionInput {
	in := layers.AttentionInput{Query: nodes[0]}
	nodes = nodes[1:]
	if c.key != nil {
		in.Key, nodes = nodes[0], nodes[1:]
	}
	if c.value != nil {
		in.Value, nodes = nodes[0], nodes[1:]
	}
	if c.set != nil {
		c.set(&in, nodes)
	}
	return in
}

// small returns a config of two heads, changed.
func small(change func(c *layers.AttentionConfig)) layers.AttentionConfig {
	c := layers.AttentionConfig{EmbedDim: 5, NumHeads: 2, HeadDim: 3}
	change(&c)
	return c
}

func calls() []call {
	x, key := []int{2, 3, 5}, []int{2, 7, 5}
	return []call{
		{about: "(T, Width)", config: small(func(*layers.AttentionConfig) {}), query: []int{3, 5}},
		{about: "T=1, S=1, sinks", config: small(func(c *layers.AttentionConfig) { c.Sinks = true }), query: []int{1, 5}},
		{about: "torch, keys and values of other widths, grouped", query: x, key: []int{2, 7, 2}, value: []int{2, 7, 3},
			config: layers.AttentionConfig{EmbedDim: 5, KDim: 2, VDim: 3, OutDim: 7, NumHeads: 4, NumKVHeads: 2,
				HeadDim: 3, ValueDim: 2, QKVBias: true, OutBias: true, Layout: layers.Torch}},
		{about: "torch, added keys, padding", query: x, key: key, more: ids("lengths", []int{0, 4}, 2),
			config: small(func(c *layers.AttentionConfig) {
				c.Layout, c.QKVBias, c.AddBiasKV, c.AddZeroAttn = layers.Torch, true, true, true
			}),
			set: func(in *layers.AttentionInput, more G.Nodes) { in.Mask = mask.KeyLengths{Lengths: more[0]} }},
		{about: "gpt2, causal, dropouts", query: x, config: small(func(c *layers.AttentionConfig) {
			c.Layout, c.QKVBias, c.OutBias, c.Mask = layers.GPT2, true, true, mask.Causal{}
			c.Dropout, c.ContextDropout, c.OutDropout = 0.3, 0.25, 0.1
		})},
		{about: "gpt2, key and value", query: x, key: key, reason: "the packed product is cut for a key of its own",
			config: small(func(c *layers.AttentionConfig) { c.Layout, c.QKVBias = layers.GPT2, true })},
		{about: "llama, rope, rms norm, causal, grouped", query: x,
			config: layers.AttentionConfig{EmbedDim: 5, NumHeads: 4, NumKVHeads: 2, HeadDim: 4, Layout: layers.Llama,
				RoPE: &graph.RoPEConfig{}, QKNorm: layers.RMSNorm, Mask: mask.Causal{}}},
		{about: "llama, rms norm of whole rows, grouped", query: x,
			config: layers.AttentionConfig{EmbedDim: 5, NumHeads: 4, NumKVHeads: 2, HeadDim: 2, Layout: layers.Llama,
				RoPE: &graph.RoPEConfig{}, QKNorm: layers.RMSNorm, QKNormWhole: true, Mask: mask.Causal{}}},
		{about: "l2 norm of whole rows by 1 + weight, key", query: x, key: key,
			config: small(func(c *layers.AttentionConfig) {
				c.QKNorm, c.QKNormWhole, c.QKNormOffset = layers.L2Norm, true, true
			})},
		{about: "llama, rms norm by 1 + weight", query: x,
			config: layers.AttentionConfig{EmbedDim: 5, NumHeads: 4, NumKVHeads: 2, HeadDim: 2, Layout: layers.Llama,
				QKNorm: layers.RMSNorm, QKNormOffset: true, Mask: mask.SlidingWindow{Left: 1}}},
		{about: "interleaved rope in part, positions, l2 norm", query: x, key: key,
			config: small(func(c *layers.AttentionConfig) {
				c.RoPE, c.QKNorm = &graph.RoPEConfig{Dims: 2, Interleaved: true}, layers.L2Norm
			}),
			more: append(ids("positions", []int{3, -1, 7}, 3), ids("key_positions", []int{2, 7, 1, 8, -2, 8, 1}, 7)...),
			set:  func(in *layers.AttentionInput, more G.Nodes) { in.Positions, in.KeyPositions = more[0], more[1] }},
		{about: "three biases", query: x, key: key, more: []gradcases.Input{gradcases.Float("bias", 2, 1, 3, 7)},
			config: small(func(c *layers.AttentionConfig) {
				c.Align, c.ALiBi, c.RelativeBias = mask.LowerRight, true, &layers.RelativeBiasConfig{Buckets: 6, MaxDistance: 3}
			}),
			set: func(in *layers.AttentionInput, more G.Nodes) { in.Bias = more[0] }},
		{about: "softcap, window, gate, sinks", query: x, key: key, config: small(func(c *layers.AttentionConfig) {
			c.Softcap, c.Gate, c.Sinks = 0.7, true, true
			c.Mask = mask.SlidingWindow{Left: 1, Right: 1, Align: mask.UpperLeft}
		})},
		{about: "forget, lower right, extra keys", query: x, key: key, config: small(func(c *layers.AttentionConfig) {
			c.Forget, c.Align, c.Mask = true, mask.LowerRight, mask.Causal{Align: mask.LowerRight}
			c.AddBiasKV, c.Sinks = true, true
		})},
		{about: "sigmoid, causal, dropout", query: x, config: small(func(c *layers.AttentionConfig) {
			c.Sigmoid, c.ContextLength, c.Mask, c.Dropout = true, 7, mask.Causal{}, 0.3
		})},
		{about: "gpt2, sparse, grouped, dropout", query: []int{2, 7, 5}, config: small(func(c *layers.AttentionConfig) {
			c.Layout, c.NumHeads, c.NumKVHeads, c.Mask, c.Dropout = layers.GPT2, 4, 2, mask.Causal{}, 0.3
			c.Sparse = &graph.BlockSparse{BlockSize: 2, Blocks: 2}
		})},
		{about: "llama, differential, grouped, dropout, gate", query: x, key: key,
			config: layers.AttentionConfig{EmbedDim: 5, NumHeads: 4, NumKVHeads: 2, HeadDim: 4, ValueDim: 3, Layout: layers.Llama,
				Mask: mask.Causal{Align: mask.LowerRight}, Dropout: 0.3, Gate: true, Differential: &layers.DifferentialConfig{}}},
		{about: "latents", query: []int{2, 5, 3}, config: layers.AttentionConfig{EmbedDim: 3, NumHeads: 2,
			Mask:   mask.Causal{},
			Latent: &layers.LatentConfig{KVLoraRank: 5, QKNopeHeadDim: 3, QKRopeHeadDim: 2, VHeadDim: 7}}},
		{about: "latents, low-rank queries, gate, forget, extra keys", query: []int{5, 3},
			config: layers.AttentionConfig{EmbedDim: 3, NumHeads: 2, Mask: mask.Causal{}, Gate: true, Forget: true,
				AddBiasKV: true, Latent: &layers.LatentConfig{
					QLoraRank: 4, KVLoraRank: 5, QKNopeHeadDim: 3, QKRopeHeadDim: 2, VHeadDim: 7}}},
		{about: "segments", query: x, more: ids("segments", []int{1, 2, 1, 3, 3, 3}, 2, 3),
			config: small(func(*layers.AttentionConfig) {}),
			set:    func(in *layers.AttentionInput, more G.Nodes) { in.Mask = mask.Segments{Query: more[0]} }},
	}
}

func ids(name string, ids []int, shape ...int) []gradcases.Input {
	return []gradcases.Input{gradcases.IDs(name, ids, shape...)}
}
