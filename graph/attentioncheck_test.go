package graph_test

import (
	"testing"

	"attention/graph"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Other parts of a config that do not go with q (2, 5, 6), k and v (2, 7, 6).
func TestWrongConfigsAreRefused(t *testing.T) {
	b, other := bench{G.NewGraph()}, bench{G.NewGraph()}
	for says, c := range map[string]graph.AttentionConfig{
		"heads: got -1, want at least 0":                                      {Heads: -1},
		"key/value heads: got 2, want a divisor of the 3 heads":               {Heads: 3, KVHeads: 2},
		"key/value heads: got -1, want a divisor of the 3 heads":              {Heads: 3, KVHeads: -1},
		"key/value heads: got 2, want a divisor of the 1 heads":               {KVHeads: 2},
		"q: shape (2, 5, 6), want (…, T, H·D) with H=4":                       {Heads: 4},
		"k: shape (2, 7, 6), want (2, S, 2)":                                  {Heads: 3, KVHeads: 1},
		"softcap: got -1, want a finite number above 0, or 0 for none":        {Softcap: -1},
		"softcap: got NaN, want a finite number above 0, or 0 for none":       {Softcap: nan},
		"softcap: got +Inf, want a finite number above 0, or 0 for none":      {Softcap: inf},
		"extra keys: got -1, want 0 or more and fewer than S=7":               {ExtraKeys: -1},
		"extra keys: got 7, want 0 or more and fewer than S=7":                {ExtraKeys: 7},
		"bias: shape (3, 5, 7), want one that broadcasts to (2, 5, 7)":        {Bias: b.f(3, 5, 7)},
		"bias: shape (5, 7), want one that broadcasts to (2, 5, 6)":           {Bias: b.f(5, 7), ExtraKeys: 1},
		"bias: got int, want float32 or float64":                              {Bias: b.ids(5, 7)},
		"bias: got float32, want float64 as the arguments before it":          {Bias: b.of(tensor.Float32, 5, 7)},
		"bias: got a node of another graph, want one of q's":                  {Bias: other.f(5, 7)},
		"relative_bias: shape (11), want (H, T+S−1) = (3, 11), or one row":    {Heads: 3, RelativeBias: b.f(11)},
		"relative_bias: shape (2, 11), want (H, T+S−1) = (3, 11), or one row": {Heads: 3, RelativeBias: b.f(2, 11)},
		"relative_bias: shape (3, 11), want (H, T+S−1) = (3, 10), or one row": {Heads: 3, RelativeBias: b.f(3, 11),
			ExtraKeys: 1},
		"relative_bias: got a node of another graph, want one of q's":    {RelativeBias: other.f(1, 11)},
		"sinks: shape (2), want (H=3)":                                   {Heads: 3, Sinks: b.f(2)},
		"sinks: shape (), want (H=1)":                                    {Sinks: b.f()},
		"sinks: got int, want float32 or float64":                        {Sinks: b.ids(1)},
		"sinks: got them with renormalized weights, want one of the two": {Sinks: b.f(1), Renormalize: true},
	} {
		q, k, v := b.f(2, 5, 6), b.f(2, 7, 6), b.f(2, 7, 6)
		_, _, err := graph.Attention(q, k, v, c)
		require.EqualError(t, err, "graph: Attention: "+says)
		_, err = graph.FusedAttention(q, k, v, c)
		require.EqualError(t, err, "graph: FusedAttention: "+says)
	}
}
