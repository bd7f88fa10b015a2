package layers_test

import (
	"fmt"
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

// Attention of a call's operands gives the call's weights and statistics, in every layout; and
// projections that are not turned are the operands.
func TestOperands(t *testing.T) {
	settings := operandSettings()
	settings["normalised"] = but(settings["book"], func(c *layers.AttentionConfig) { c.QKNorm = layers.L2Norm })
	for name, c := range settings {
		p, l := newAttention(t, tensor.Float64, c)
		b := layers.NewBuild(p, layers.Eval)
		b.Observe("*")
		b.Of(l.Forward(b, input(t, b, "x", golden.Numbers(tensor.Float64, 2, 7, 5))))
		call := b.Calls("*")[0]
		o, err := call.Operands()
		require.NoError(t, err, name)
		stats, err := call.Stats()
		require.NoError(t, err, name)
		_, weights, err := graph.Attention(o.Query, o.Key, o.Value, o.Config)
		require.NoError(t, err, name)
		_, entropy, err := graph.FusedAttentionStats(o.Query, o.Key, o.Value, o.Config, 0)
		require.NoError(t, err, name)
		nodes := G.Nodes{b.Of(call.Weights()), weights, stats.Entropy, entropy.Entropy,
			o.ProjectedQuery, o.Query, o.ProjectedKey, o.Key}
		require.Equal(t, nodes[0].Shape(), weights.Shape(), name)
		got := values(t, nodes...)
		require.InDeltaSlice(t, got[0], got[1], 1e-12, name)
		require.InDeltaSlice(t, got[2], got[3], 1e-12, name)
		if c.RoPE == nil && c.QKNorm == "" {
			require.Equal(t, got[4], got[5], name)
		} else {
			require.NotEqual(t, got[4], got[5], name)
		}
		require.Equal(t, tensor.Shape{2, 7, 24}, o.ProjectedQuery.Shape(), name)
		require.Equal(t, fmt.Sprint(o.Config.Dropout), fmt.Sprint(graph.DropoutConfig{}), name)
	}
}
