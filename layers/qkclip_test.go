package layers_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// largestProducts returns the largest scale·q·k of each head for fixed tokens.
func largestProducts(t testing.TB, p *layers.Params, l *layers.Attention) []float64 {
	t.Helper()
	b := layers.NewBuild(p, layers.Eval)
	b.Observe("*")
	b.Of(l.Forward(b, input(t, b, "x", golden.Numbers(p.Dtype(), 2, 7, 5))))
	require.NoError(t, b.Err())
	s, err := b.Calls("*")[0].Stats()
	require.NoError(t, err)
	products := values(t, s.MaxProduct)[0] // (2, H, 7)
	H := len(products) / 14
	largest := make([]float64, H)
	for h := range largest {
		largest[h] = math.Inf(-1)
	}
	for i, x := range products {
		largest[i/7%H] = max(largest[i/7%H], x)
	}
	return largest
}

// clippable are settings that differ in where the projections lie and what belongs to them.
func clippable() map[string]layers.AttentionConfig {
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

// The clip makes the largest product of every head above the threshold the threshold, and
// leaves the others to the bit, wherever the projections lie.
func TestClipQK(t *testing.T) {
	for name, c := range clippable() {
		for dt, tol := range map[tensor.Dtype]float64{tensor.Float64: 1e-12, tensor.Float32: 1e-5} {
			t.Run(fmt.Sprint(name, "/", dt), func(t *testing.T) {
				p, l := newAttention(t, dt, c)
				before := largestProducts(t, p, l)
				sorted := slices.Sorted(slices.Values(before))
				threshold := (sorted[2] + sorted[3]) / 2 // between the heads
				require.Greater(t, threshold, 0.0)
				gamma, err := l.ClipQK(before, threshold)
				require.NoError(t, err)
				after, clipped := largestProducts(t, p, l), 0
				for h, s := range before {
					if s <= threshold {
						require.Equal(t, 1.0, gamma[h])
						require.Equal(t, s, after[h], "head %d", h)
						continue
					}
					clipped++
					require.InEpsilon(t, threshold/s, gamma[h], 1e-15)
					require.InEpsilon(t, threshold, after[h], tol, "head %d", h)
				}
				require.Equal(t, 3, clipped)
			})
		}
	}
}

// With a key head of its own, half of the scale goes to the queries and half to the keys, and
// values stay; shared keys stay, too.
func TestClipQKSharesTheScale(t *testing.T) {
	c := layers.AttentionConfig{EmbedDim: 3, NumHeads: 2, HeadDim: 1, QKVBias: true, AddBiasKV: true}
	for _, row := range []struct {
		kvHeads                int
		query, key             []float64
		queryWeight, keyWeight []float64
	}{
		{kvHeads: 2, query: []float64{1, 0.5}, key: []float64{1, 0.5},
			queryWeight: []float64{1, 1, 1, 0.5, 0.5, 0.5}, keyWeight: []float64{1, 1, 1, 0.5, 0.5, 0.5}},
		{kvHeads: 1, query: []float64{1, 0.25}, key: []float64{1},
			queryWeight: []float64{1, 1, 1, 0.25, 0.25, 0.25}, keyWeight: []float64{1, 1, 1}},
	} {
		c.NumKVHeads = row.kvHeads
		p, l := newAttention(t, tensor.Float64, c)
		for _, v := range p.All() {
			v.Memset(1.0)
		}
		gamma, err := l.ClipQK([]float64{math.Inf(-1), 40}, 10)
		require.NoError(t, err)
		require.Equal(t, []float64{1, 0.25}, gamma)
		for name, want := range map[string][]float64{"W_query.weight": row.queryWeight, "W_query.bias": row.query,
			"W_key.weight": row.keyWeight, "W_key.bias": row.key, "bias_k": row.key} {
			v, _ := p.Get(name)
			require.Equal(t, want, v.Float64s(), name)
		}
		for _, name := range []string{"W_value.weight", "W_value.bias", "bias_v", "out_proj.weight"} {
			v, _ := p.Get(name)
			for _, x := range v.Float64s() {
				require.Equal(t, 1.0, x, name)
			}
		}
	}
}

func TestClipQKRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, row := range []struct {
		change    func(c *layers.AttentionConfig)
		frozen    string
		largest   []float64
		threshold float64
		want      string
	}{
		{change: func(c *layers.AttentionConfig) { c.QKNorm = layers.RMSNorm }, largest: []float64{1, 2, 3}, threshold: 1,
			want: `clip: got a layer with QKNorm "rms", which undoes any scale, want one without`},
		{largest: []float64{1, 2}, threshold: 1, want: "clip: got the largest products of 2 heads, want 3"},
		{largest: []float64{1, 2, 3}, want: "clip: got a threshold of 0, want a finite number above 0"},
		{largest: []float64{1, 2, 3}, threshold: nan, want: "clip: got a threshold of NaN, want a finite number above 0"},
		{largest: []float64{1, 2, 3}, threshold: inf, want: "clip: got a threshold of +Inf, want a finite number above 0"},
		{largest: []float64{9, nan, 3}, threshold: 1,
			want: "clip: got NaN as the largest product of head 1, want a finite number"},
		{largest: []float64{9, 2, inf}, threshold: 1,
			want: "clip: got +Inf as the largest product of head 2, want a finite number"},
		{frozen: "W_key.weight", largest: []float64{9, 2, 3}, threshold: 1,
			want: "clip: got W_key.weight frozen or without a value, want it trained"},
	} {
		c := plainAttention
		if row.change != nil {
			row.change(&c)
		}
		p, l := newAttention(t, tensor.Float64, c)
		if row.frozen != "" {
			require.NoError(t, p.Freeze(row.frozen))
		}
		before := map[string][]float64{}
		for name, v := range p.All() {
			before[name] = slices.Clone(v.Float64s())
		}
		_, err := l.ClipQK(row.largest, row.threshold)
		require.EqualError(t, err, "layers: Attention: "+row.want)
		for name, v := range p.All() {
			require.Equal(t, before[name], v.Float64s(), name)
		}
	}
}
