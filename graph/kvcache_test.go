package graph_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// One compiled graph serves every token.
func TestCachedAttentionTokenByToken(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const n = 300
	q, k, v := normal(r, 1, n, 6), normal(r, 1, n, 3), normal(r, 1, n, 3)
	g := G.NewGraph()
	full := graph.AttentionConfig{Heads: 2, KVHeads: 1, Mask: mask.Causal{}}
	all, err := graph.FusedAttention(node(g, "q", q, tensor.Float64), node(g, "k", k, tensor.Float64),
		node(g, "v", v, tensor.Float64), full)
	require.NoError(t, err)
	want := run(t, all)

	cache, err := graph.NewKVCache(tensor.Float64, graph.KVCacheConfig{KeyWidth: 3, ValueWidth: 3, Capacity: n})
	require.NoError(t, err)
	require.Equal(t, 2*3*n*8, cache.Bytes())
	g = G.NewGraph()
	in := G.Nodes{node(g, "q", zeros(1, 1, 6), tensor.Float64), node(g, "k", zeros(1, 1, 3), tensor.Float64),
		node(g, "v", zeros(1, 1, 3), tensor.Float64)}
	start := G.NewScalar(g, tensor.Int, G.WithName("start"))
	out, err := graph.CachedAttention(in[0], in[1], in[2], start, cache, full)
	require.NoError(t, err)
	m, err := machine.New(out)
	require.NoError(t, err)
	step := func(at int) []float64 {
		for i, a := range []array{q, k, v} {
			require.NoError(t, G.Let(in[i], tokenRows(a, at, at+1).value(tensor.Float64)))
		}
		require.NoError(t, G.Let(start, at))
		require.NoError(t, m.RunAll())
		return slices.Clone(arrayOf(t, out.Value()).v)
	}
	for at := range n {
		near(t, fmt.Sprintf("token %d", at), of(want.v[at*6:][:6]), of(step(at)), 1e-12)
	}
	// Another continuation from an earlier token.
	require.NoError(t, cache.Truncate(100))
	near(t, "token 100 again", of(want.v[100*6:][:6]), of(step(100)), 1e-12)
	require.NoError(t, G.Let(start, 103))
	require.ErrorContains(t, m.RunAll(), "graph: KVCache: start: got 103, want at most 101, the number of tokens seen")
	require.NoError(t, cache.Truncate(0))
	for at := range n {
		step(at)
	}
	require.NoError(t, G.Let(start, n))
	require.ErrorContains(t, m.RunAll(), "graph: KVCache: got tokens 300 to 300, want at most Capacity=300")
	require.Equal(t, n, cache.Len())
	cache.Reset()
	require.Zero(t, cache.Len())
}
