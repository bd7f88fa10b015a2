package layers_test

import (
	"cmp"
	"math"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// operandSettings are attentions of all layouts, with parts that change scores and keys.
func operandSettings() map[string]layers.AttentionConfig {
	c := layers.AttentionConfig{EmbedDim: 5, NumHeads: 6, HeadDim: 4, QKVBias: true, Mask: mask.Causal{}, Scale: 3}
	all := map[string]layers.AttentionConfig{}
	for _, layout := range []layers.Layout{layers.Book, layers.Torch, layers.GPT2, layers.Llama, layers.PerHead,
		layers.Raw} {
		c := c
		if c.Layout = layout; layout == layers.Raw {
			c.QKVBias, c.ContextOnly = false, true
		}
		all[string(layout)] = c
		if layout != layers.PerHead {
			c.NumKVHeads = 2
			all[string(layout)+", shared keys"] = c
		}
	}
	all["rope"] = but(c, func(c *layers.AttentionConfig) { c.RoPE = &graph.RoPEConfig{} })
	all["bias_k"] = but(c, func(c *layers.AttentionConfig) { c.AddBiasKV, c.AddZeroAttn = true, true })
	all["bias_k, shared keys"] = but(c, func(c *layers.AttentionConfig) { c.AddBiasKV, c.NumKVHeads = true, 3 })
	all["capped, with sinks and ALiBi"] = but(c, func(c *layers.AttentionConfig) {
		c.Softcap, c.Sinks, c.ALiBi = 2, true, true
	})
	return all
}

// The operands of each head, and the keys that its queries see, give the weights and the heads' outputs.
func TestHeadOperands(t *testing.T) {
	settings := operandSettings()
	settings["normalised"] = but(settings["book"], func(c *layers.AttentionConfig) { c.QKNorm = layers.L2Norm })
	settings["relative bias"] = but(settings["gpt2"], func(c *layers.AttentionConfig) {
		c.RelativeBias = &layers.RelativeBiasConfig{}
	})
	settings["more keys"] = but(settings["book"], func(c *layers.AttentionConfig) {
		c.AddBiasKV, c.AddZeroAttn, c.Mask = true, true, mask.Or(mask.SlidingWindow{Left: 2}, mask.Prefix{N: 1})
	})
	settings["forgetting"] = but(settings["book"], func(c *layers.AttentionConfig) {
		c.Forget, c.AddBiasKV, c.NumKVHeads = true, true, 2
	})
	settings["sigmoid"] = but(settings["book"], func(c *layers.AttentionConfig) {
		c.Sigmoid, c.ContextLength, c.Forget = true, 9, true
	})
	for name, c := range settings {
		p, l := newAttention(t, tensor.Float64, c)
		b := layers.NewBuild(p, layers.Eval)
		b.Of(l.Forward(b, input(t, b, "x", golden.Numbers(tensor.Float64, 7, 5))))
		call := b.Calls("*")[0]
		o, err := call.Operands()
		require.NoError(t, err, name)
		w := b.Of(call.Weights())
		require.NoError(t, b.Err(), name)
		nodes := G.Nodes{w, o.Query, o.Key, o.Value, o.ProjectedQuery, o.ProjectedKey}
		for _, n := range []*G.Node{o.Config.RelativeBias, o.Config.LogGates, o.Config.Sinks} {
			if n != nil {
				nodes = append(nodes, n)
			}
		}
		want := values(t, nodes...)[0]
		shown, err := o.Shown()
		require.NoError(t, err, name)
		T, S, D := 7, o.Key.Shape()[0], o.Query.Shape()[1]/o.Config.Heads
		for head := range o.Config.Heads {
			h, err := o.Head(head)
			require.NoError(t, err, name)
			require.Equal(t, c.QKNorm == "" && c.RoPE == nil && S == 7, h.ProjectedQuery == nil, name)
			require.Len(t, h.Value, S*o.Value.Shape()[1]/cmp.Or(o.Config.KVHeads, o.Config.Heads), name)
			for q := range T {
				keys := shown.Keys[2*shown.Start[q] : 2*shown.Start[q+1]]
				require.InDeltaSlice(t, want[(head*T+q)*S:][:S], weightsOfHead(o, h, keys, q, S, D), 1e-5,
					"%s: head %d, query %d", name, head, q)
			}
		}
		_, err = o.Head(o.Config.Heads)
		require.ErrorContains(t, err, "operands: head: got ")
	}
}

// weightsOfHead returns the weights (S) of query q from the operands of a head.
func weightsOfHead(o layers.AttentionOperands, h layers.HeadOperands, shown []uint32, q, S, D int) []float64 {
	weights, total := make([]float64, S), 0.0
	if h.Sink != nil {
		total = math.Exp(*h.Sink)
	}
	scale := o.Config.Scale
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(D))
	}
	for i := 0; i < len(shown); i += 2 {
		for s := int(shown[i]); s < int(shown[i+1]); s++ {
			score := 0.0
			for d := range D {
				score += scale * float64(h.Query[q*D+d]) * float64(h.Key[s*D+d])
			}
			if o.Config.Softcap > 0 {
				score = o.Config.Softcap * math.Tanh(score/o.Config.Softcap)
			}
			if h.Bias != nil {
				score += float64(h.Bias[q-s+S-1])
			}
			for i := s + 1; i <= q && h.LogGates != nil; i++ {
				score += float64(h.LogGates[i])
			}
			weights[s] = math.Exp(score)
			total += weights[s]
			if o.Config.Sigmoid {
				weights[s] = 1 / (1 + math.Exp(-score-o.Config.SigmoidBias))
			}
		}
	}
	if o.Config.Sigmoid {
		return weights
	}
	for s := range weights {
		weights[s] /= total
	}
	return weights
}

// Operands without values, and those of several texts, have no numbers of a head.
func TestHeadOperandsRefused(t *testing.T) {
	p, l := newAttention(t, tensor.Float64, plainAttention)
	b := layers.NewBuild(p, layers.Eval)
	b.Of(l.Forward(b, input(t, b, "x", golden.Numbers(tensor.Float64, 2, 7, 5))))
	o, err := b.Calls("*")[0].Operands()
	require.NoError(t, err)
	_, err = o.Head(0)
	require.EqualError(t, err, "layers: operands: got one without a value, want those of a run")
	_, err = o.Shown()
	require.EqualError(t, err, "layers: operands: got one without a value, want those of a run")
	values(t, o.Query, o.Key, o.Value)
	_, err = o.Head(0)
	require.ErrorContains(t, err, "got one of shape (2, 7, ")
	_, err = o.Shown()
	require.ErrorContains(t, err, "got one of shape (2, 7, ")
}
