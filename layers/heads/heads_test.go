package heads_test

import (
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// settings are attentions of all layouts, with every part that changes scores and keys.
func settings() map[string]layers.AttentionConfig {
	base := layers.AttentionConfig{EmbedDim: 5, NumHeads: 6, HeadDim: 4, QKVBias: true, Mask: mask.Causal{}, Scale: 3}
	all := map[string]layers.AttentionConfig{}
	add := func(name string, change func(c *layers.AttentionConfig)) {
		c := base
		change(&c)
		all[name] = c
	}
	for _, layout := range []layers.Layout{layers.Book, layers.Torch, layers.GPT2, layers.Llama, layers.PerHead} {
		add(string(layout), func(c *layers.AttentionConfig) { c.Layout = layout })
		if layout != layers.PerHead {
			add(string(layout)+", shared keys", func(c *layers.AttentionConfig) { c.Layout, c.NumKVHeads = layout, 2 })
		}
	}
	raw := func(kvHeads int) func(c *layers.AttentionConfig) {
		return func(c *layers.AttentionConfig) {
			c.Layout, c.QKVBias, c.ContextOnly, c.NumKVHeads = layers.Raw, false, true, kvHeads
		}
	}
	add("raw", raw(0))
	add("raw, shared keys", raw(2))
	add("rope", func(c *layers.AttentionConfig) { c.RoPE = &graph.RoPEConfig{} })
	add("bias_k", func(c *layers.AttentionConfig) { c.AddBiasKV, c.AddZeroAttn = true, true })
	add("bias_k, shared keys", func(c *layers.AttentionConfig) { c.AddBiasKV, c.NumKVHeads = true, 3 })
	add("capped, with sinks and ALiBi", func(c *layers.AttentionConfig) { c.Softcap, c.Sinks, c.ALiBi = 2, true, true })
	add("normalised", func(c *layers.AttentionConfig) { c.QKNorm = layers.L2Norm })
	add("relative bias", func(c *layers.AttentionConfig) {
		c.Layout, c.RelativeBias = layers.GPT2, &layers.RelativeBiasConfig{}
	})
	add("more keys", func(c *layers.AttentionConfig) {
		c.AddBiasKV, c.AddZeroAttn, c.Mask = true, true, mask.Or(mask.SlidingWindow{Left: 2}, mask.Prefix{N: 1})
	})
	add("forgetting", func(c *layers.AttentionConfig) { c.Layout, c.Forget = layers.Torch, true })
	add("forgetting, bias_k, shared keys", func(c *layers.AttentionConfig) {
		c.Forget, c.AddBiasKV, c.NumKVHeads = true, true, 2
	})
	add("sigmoid", func(c *layers.AttentionConfig) { c.Layout, c.Sigmoid, c.SigmoidBias = layers.GPT2, true, -1 })
	add("sigmoid, forgetting", func(c *layers.AttentionConfig) { c.Sigmoid, c.ContextLength, c.Forget = true, 9, true })
	return all
}

// attend builds a call of a new layer over x.
func attend(t testing.TB, c layers.AttentionConfig, x ...int) (*layers.Build, *layers.AttentionCall) {
	t.Helper()
	p := layers.NewParams(tensor.Float64, 1)
	l, err := layers.NewAttention(p.Scope("attn"), c)
	require.NoError(t, err)
	b := layers.NewBuild(p, layers.Eval)
	b.Of(l.Forward(b, input(t, b, "x", golden.Numbers(tensor.Float64, x...))))
	require.NoError(t, b.Err())
	return b, b.Calls("*")[0]
}

// operandsOf returns the operands of a call, and their nodes.
func operandsOf(t testing.TB, call *layers.AttentionCall) (o layers.AttentionOperands, nodes G.Nodes) {
	t.Helper()
	o, err := call.Operands()
	require.NoError(t, err)
	for _, n := range []*G.Node{o.ProjectedQuery, o.ProjectedKey, o.Query, o.Key, o.Value, o.Config.RelativeBias,
		o.Config.LogGates, o.Config.Sinks} {
		if n != nil {
			nodes = append(nodes, n)
		}
	}
	return o, nodes
}

// input makes an input of the build that holds v.
func input(t testing.TB, b *layers.Build, name string, v *tensor.Dense) *G.Node {
	t.Helper()
	n := b.InputOf(v.Dtype(), name, v.Shape()...)
	require.NoError(t, b.Err())
	require.NoError(t, G.Let(n, v))
	return n
}

// values runs nodes of one graph.
func values(t testing.TB, nodes ...*G.Node) [][]float64 {
	t.Helper()
	m, err := machine.New(nodes...)
	require.NoError(t, err)
	defer m.Close()
	require.NoError(t, m.RunAll())
	var got [][]float64
	for _, n := range nodes {
		got = append(got, golden.Floats(t, n.Value()))
	}
	return got
}
