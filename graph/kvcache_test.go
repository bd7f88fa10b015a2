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
	all, err := fusedAttention(node(g, "q", q, tensor.Float64), node(g, "k", k, tensor.Float64),
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
	out, err := cachedAttention(in[0], in[1], in[2], start, cache, full)
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
	// The cache is truncated, and the text continues differently from there.
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

// A cache that grows gives the same bits as a cache that does not, and its memory doubles up to its capacity.
func TestKVCacheGrows(t *testing.T) {
	const B, K, D, Dv, capacity = 2, 3, 2, 5, 23
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		token := K * (D + Dv) * B * int(dt.Size())
		caches, chunks := []*graph.KVCache{}, []func(T int, starts ...int) []float64{}
		for _, room := range []int{0, 2} {
			cache, err := graph.NewKVCache(dt, graph.KVCacheConfig{Batch: B, KeyWidth: K * D, ValueWidth: K * Dv,
				Capacity: capacity, Room: room})
			require.NoError(t, err)
			caches = append(caches, cache)
			r := rand.New(rand.NewPCG(1, uint64(dt.Size())))
			chunks = append(chunks, func(T int, starts ...int) []float64 {
				g := G.NewGraph()
				in := func(name string, width int) *G.Node { return node(g, name, normal(r, B, T, width), dt) }
				at := node(g, "start", of([]float64{float64(starts[0]), float64(starts[1])}, B, 1), tensor.Int)
				out, err := cachedAttention(in("q", 2*K*D), in("k", K*D), in("v", K*Dv), at, cache,
					graph.AttentionConfig{Heads: 2 * K, KVHeads: K, Mask: mask.Causal{}})
				require.NoError(t, err)
				return run(t, out).v
			})
		}
		require.Equal(t, []int{capacity * token, 2 * token}, []int{caches[0].Bytes(), caches[1].Bytes()})
		for _, c := range []struct{ T, first, second, rows int }{
			{T: 1, rows: 2}, {T: 1, first: 1, second: 1, rows: 2}, {T: 3, first: 2, second: 1, rows: 5},
			{T: 1, first: 5, second: 4, rows: 10}, {T: 9, first: 6, second: 2, rows: 20},
			{T: 1, first: 4, second: 9, rows: 20}, {T: 7, first: 5, second: 10, rows: 20},
			{T: 8, first: 8, second: 15, rows: capacity},
		} {
			want, got := chunks[0](c.T, c.first, c.second), chunks[1](c.T, c.first, c.second)
			require.Equal(t, want, got, "%+v", c)
			require.Equal(t, c.rows*token, caches[1].Bytes(), "%+v", c)
		}
		caches[1].Reset()
		require.Equal(t, capacity*token, caches[1].Bytes(), "memory stays for the next text")
	}
}

// A cache with a huge capacity allocates memory for the tokens that are there only, and returns an error if there is
// none for more.
func TestKVCacheOfManyTokens(t *testing.T) {
	c := graph.KVCacheConfig{KeyWidth: 1 << 16, ValueWidth: 1, Capacity: 1 << 20, Room: 1}
	cache, err := graph.NewKVCache(tensor.Float32, c)
	require.NoError(t, err)
	require.Equal(t, 4*(1<<16+1), cache.Bytes())
	c.Room = 0
	_, err = graph.NewKVCache(tensor.Float32, c)
	require.ErrorContains(t, err, "graph: KVCache: sizes: got 1048576 tokens of")
}
