package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Settings that float32 rounds to 0 or to ∞ are refused for float32.
func TestSettingsThatFloat32DoesNotHoldAreRefused(t *testing.T) {
	b := bench{G.NewGraph()}
	q := b.of(tensor.Float32, 2, 3)
	for _, x := range []float64{1e300, 1e39, 1e-39, 5e-324} {
		want := fmt.Sprintf("got %v, want a size of 2.94e-39 to 3.4e+38 for float32", x)
		for name, c := range map[string]graph.AttentionConfig{"scale": {Scale: x}, "softcap": {Softcap: x}} {
			_, _, err := graph.Attention(q, q, q, c)
			require.EqualError(t, err, "graph: Attention: "+name+": "+want)
			_, err = fusedAttention(q, q, q, c)
			require.EqualError(t, err, "graph: FusedAttention: "+name+": "+want)
		}
		_, err := graph.Softcap(q, x)
		require.EqualError(t, err, "graph: Softcap: cap: "+want)
		_, err = graph.Scale(q, -x)
		require.EqualError(t, err, "graph: Scale: factor: "+strings.Replace(want, "got ", "got -", 1))
		d := b.f(2, 3)
		_, err = fusedAttention(d, d, d, graph.AttentionConfig{Scale: max(x, 1e-300)})
		require.NoError(t, err)
	}
	_, err := graph.Scale(q, 0)
	require.NoError(t, err)
}

// Other settings that do not fit q (2, 5, 6), k and v (2, 7, 6).
func TestWrongConfigsAreRefused(t *testing.T) {
	b, other := bench{G.NewGraph()}, bench{G.NewGraph()}
	for _, c := range []struct {
		config graph.AttentionConfig
		want   string
	}{
		{config: graph.AttentionConfig{Heads: -1}, want: "heads: got -1, want at least 0"},
		{config: graph.AttentionConfig{Heads: 3, KVHeads: 2}, want: "key/value heads: got 2, want a divisor of the 3 heads"},
		{config: graph.AttentionConfig{Heads: 3, KVHeads: -1},
			want: "key/value heads: got -1, want a divisor of the 3 heads"},
		{config: graph.AttentionConfig{KVHeads: 2}, want: "key/value heads: got 2, want a divisor of the 1 heads"},
		{config: graph.AttentionConfig{Heads: 4}, want: "q: shape (2, 5, 6), want (…, T, H·D) with H=4"},
		{config: graph.AttentionConfig{Heads: 3, KVHeads: 1}, want: "k: shape (2, 7, 6), want (2, S, 2)"},
		{config: graph.AttentionConfig{Softcap: -1}, want: "softcap: got -1, want a finite number above 0, or 0 for none"},
		{config: graph.AttentionConfig{Softcap: nan}, want: "softcap: got NaN, want a finite number above 0, or 0 for none"},
		{config: graph.AttentionConfig{Softcap: inf}, want: "softcap: got +Inf, want a finite number above 0, or 0 for none"},
		{config: graph.AttentionConfig{ExtraKeys: -1}, want: "extra keys: got -1, want 0 or more and fewer than S=7"},
		{config: graph.AttentionConfig{ExtraKeys: 7}, want: "extra keys: got 7, want 0 or more and fewer than S=7"},
		{config: graph.AttentionConfig{Bias: b.f(3, 5, 7)},
			want: "bias: shape (3, 5, 7), want one that broadcasts to (2, 5, 7)"},
		{config: graph.AttentionConfig{Bias: b.f(5, 7), ExtraKeys: 1},
			want: "bias: shape (5, 7), want one that broadcasts to (2, 5, 6)"},
		{config: graph.AttentionConfig{Bias: b.ids(5, 7)}, want: "bias: got int, want float32 or float64"},
		{config: graph.AttentionConfig{Bias: b.of(tensor.Float32, 5, 7)},
			want: "bias: got float32, want float64 as the arguments before it"},
		{config: graph.AttentionConfig{Bias: other.f(5, 7)}, want: "bias: got a node of another graph, want one of q's"},
		{config: graph.AttentionConfig{Heads: 3, RelativeBias: b.f(11)},
			want: "relative_bias: shape (11), want (H, T+S−1) = (3, 11), or one row"},
		{config: graph.AttentionConfig{Heads: 3, RelativeBias: b.f(2, 11)},
			want: "relative_bias: shape (2, 11), want (H, T+S−1) = (3, 11), or one row"},
		{config: graph.AttentionConfig{Heads: 3, RelativeBias: b.f(3, 11), ExtraKeys: 1},
			want: "relative_bias: shape (3, 11), want (H, T+S−1) = (3, 10), or one row"},
		{config: graph.AttentionConfig{RelativeBias: other.f(1, 11)},
			want: "relative_bias: got a node of another graph, want one of q's"},
		{config: graph.AttentionConfig{Heads: 3, LogGates: b.f(2, 7, 2)},
			want: "log_gates: shape (2, 7, 2), want (…, S, H) = (2, 7, 3)"},
		{config: graph.AttentionConfig{LogGates: b.f(2, 7), ExtraKeys: 1},
			want: "log_gates: shape (2, 7), want (…, S) = (2, 6)"},
		{config: graph.AttentionConfig{LogGates: b.f(2, 4), ExtraKeys: 3},
			want: "log_gates: got T=5 queries of S=4 keys, want at most as many: they are the last of them"},
		{config: graph.AttentionConfig{LogGates: b.ids(2, 7)}, want: "log_gates: got int, want float32 or float64"},
		{config: graph.AttentionConfig{LogGates: other.f(2, 7)},
			want: "log_gates: got a node of another graph, want one of q's"},
		{config: graph.AttentionConfig{Heads: 3, Sinks: b.f(3), Sigmoid: true},
			want: "sinks: got some with a sigmoid, which no key takes weight from, want none"},
		{config: graph.AttentionConfig{SigmoidBias: -2}, want: "sigmoid bias: got -2 without a sigmoid, want 0"},
		{config: graph.AttentionConfig{Sigmoid: true, SigmoidBias: nan}, want: "sigmoid bias: got NaN, want a finite number"},
		{config: graph.AttentionConfig{Heads: 3, Sinks: b.f(2)}, want: "sinks: shape (2), want (H=3)"},
		{config: graph.AttentionConfig{Sinks: b.f()}, want: "sinks: shape (), want (H=1)"},
		{config: graph.AttentionConfig{Sinks: b.ids(1)}, want: "sinks: got int, want float32 or float64"},
	} {
		q, k, v := b.f(2, 5, 6), b.f(2, 7, 6), b.f(2, 7, 6)
		_, _, err := graph.Attention(q, k, v, c.config)
		require.EqualError(t, err, "graph: Attention: "+c.want)
		_, err = fusedAttention(q, k, v, c.config)
		require.EqualError(t, err, "graph: FusedAttention: "+c.want)
	}
}

// The error about an axis without elements names its argument, whatever other errors the axis would cause.
func TestAttentionOfEmptyAxes(t *testing.T) {
	g := G.NewGraph()
	n := func(name string, shape ...int) *G.Node {
		return G.NewTensor(g, tensor.Float64, len(shape), G.WithShape(shape...), G.WithName(name))
	}
	q, keys, wide := n("q", 2, 3, 5), n("keys", 2, 0, 5), n("wide", 2, 3, 0)
	_, err := fusedAttention(q, keys, keys, graph.AttentionConfig{})
	require.EqualError(t, err, "graph: FusedAttention: k: shape (2, 0, 5), want every axis at least 1")
	_, _, err = graph.Attention(wide, wide, q, graph.AttentionConfig{})
	require.EqualError(t, err, "graph: Attention: q: shape (2, 3, 0), want every axis at least 1")
}
