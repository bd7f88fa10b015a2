package graph_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The fused form of sparse attention, which gathers the queries of each block, equals the composed form over several
// tiles and chunks of queries: outputs and gradients, with every other option, and with the same bits on any number of
// cores.
func TestSparseAttentionOfSeveralTiles(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, c := range []struct {
		name      string
		T, H, K   int
		sparse    graph.BlockSparse
		set       func(c *graph.AttentionConfig, in G.Nodes)
		more      []input
		precision graph.Precision
	}{
		{name: "blocks of two tiles", T: 700, H: 2, K: 1, sparse: graph.BlockSparse{BlockSize: 256, Blocks: 2}},
		{name: "odd blocks", T: 391, H: 2, K: 2, sparse: graph.BlockSparse{BlockSize: 33, Blocks: 4}},
		{name: "bfloat16, odd blocks", T: 391, H: 2, K: 2, sparse: graph.BlockSparse{BlockSize: 33, Blocks: 4},
			precision: graph.BFloat16},
		{name: "small blocks, window", T: 300, H: 1, K: 1, sparse: graph.BlockSparse{BlockSize: 3, Blocks: 9},
			set: func(c *graph.AttentionConfig, _ G.Nodes) { c.Mask = mask.SlidingWindow{Left: 150} }},
		{name: "lengths", T: 300, H: 1, K: 1, sparse: graph.BlockSparse{BlockSize: 32, Blocks: 3},
			set:  func(c *graph.AttentionConfig, in G.Nodes) { c.Mask = mask.KeyLengths{Lengths: in[3]} },
			more: []input{ids([]float64{131}, 1)}},
		{name: "segments, relative bias, sinks, softcap, dropout", T: 290, H: 2, K: 1,
			sparse: graph.BlockSparse{BlockSize: 32, Blocks: 3},
			set: func(c *graph.AttentionConfig, in G.Nodes) {
				c.Mask, c.RelativeBias, c.Sinks, c.Softcap = mask.Segments{Query: in[5]}, in[3], in[4], 5
				c.Dropout = graph.DropoutConfig{P: 0.3, Key: in[6], Site: 2}
			},
			more: []input{{array: normal(r, 2, 579)}, {array: normal(r, 2)}, ids(thirds(290), 1, 290), key(7)}},
		{name: "bias", T: 140, H: 1, K: 1, sparse: graph.BlockSparse{BlockSize: 64, Blocks: 2},
			set:  func(c *graph.AttentionConfig, in G.Nodes) { c.Bias = in[3] },
			more: []input{{array: normal(r, 140, 140)}}},
		{name: "log-gates, a function of scores", T: 290, H: 2, K: 1, sparse: graph.BlockSparse{BlockSize: 32, Blocks: 3},
			set:  func(c *graph.AttentionConfig, in G.Nodes) { c.LogGates, c.Score = in[3], wave },
			more: []input{{array: normal(r, 1, 290, 2)}}},
		{name: "sigmoid", T: 290, H: 2, K: 1, sparse: graph.BlockSparse{BlockSize: 32, Blocks: 3},
			set: func(c *graph.AttentionConfig, _ G.Nodes) { c.Sigmoid, c.SigmoidBias = true, -2 }},
		{name: "two chunks", T: 2200, H: 1, K: 1, sparse: graph.BlockSparse{BlockSize: 128, Blocks: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := append(inputs(normal(r, 1, c.T, c.H*4), normal(r, 1, c.T, c.K*4), normal(r, 1, c.T, c.K*3)), c.more...)
			dout := normal(r, 1, c.T, c.H*3)
			dt, tol := tensor.Float64, 1e-11
			if c.precision == graph.BFloat16 {
				dt, tol = tensor.Float32, 2e-2
			}
			form := func(attend func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error)) result {
				e := express(t, func(in G.Nodes) (*G.Node, error) {
					a := graph.AttentionConfig{Heads: c.H, KVHeads: c.K, Sparse: &c.sparse, Precision: c.precision}
					if c.set != nil {
						c.set(&a, in)
					}
					return attend(in[0], in[1], in[2], a)
				}, in, dt)
				e.differentiate(t, in, dout, dt)
				return e.onOurs(t)
			}
			want := form(func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error) {
				return context(graph.Attention(q, k, v, c))
			})
			got := form(fusedAttention)
			nearResult(t, c.name, want, got, tol)
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			alone := form(fusedAttention)
			for i, x := range append(got.grads, got.out) {
				require.Equal(t, bits(x), bits(append(alone.grads, alone.out)[i]), "on one core")
			}
		})
	}
}

// thirds returns the segments of n tokens in three documents.
func thirds(n int) (s []float64) {
	for i := range n {
		s = append(s, float64(3*i/n))
	}
	return s
}

// The chosen blocks have the largest gates. Of equal gates the earlier block is chosen, and blocks with gates of NaN
// only if no others are left.
func TestSparseMask(t *testing.T) {
	g := G.NewGraph()
	q := node(g, "q", of([]float64{1, 1, 1, 1, 1, 1, 1, 1, -1}, 9, 1), tensor.Float64)
	for _, c := range []struct {
		name string
		k    []float64
		want []int // the blocks of 2 keys that the last query sees
	}{
		{name: "the least", k: []float64{3, 3, 1, 1, 2, 2, 4, 4, 0}, want: []int{1, 2, 4}},
		{name: "equal ones", k: []float64{1, 1, 2, 2, 1, 1, 1, 1, 0}, want: []int{0, 2, 4}},
		{name: "NaN", k: []float64{math.NaN(), 1, 5, 5, 6, 6, 7, 7, 0}, want: []int{1, 2, 4}},
	} {
		k := node(g, "k "+c.name, of(c.k, 9, 1), tensor.Float64)
		m, err := graph.SparseMask(q, k, graph.AttentionConfig{Sparse: &graph.BlockSparse{BlockSize: 2, Blocks: 3}})
		require.NoError(t, err)
		_, blocks := mask.WithoutBlocks(m)
		require.NotNil(t, blocks)
		vm, err := machine.New(blocks.Chosen)
		require.NoError(t, err)
		require.NoError(t, vm.RunAll())
		chosen := blocks.Chosen.Value().Data().([]int)
		require.Equal(t, []int{0, -1, -1, 0, -1, -1, 0, 1, -1, 0, 1, -1}, chosen[:12], c.name)
		require.Equal(t, c.want, chosen[24:], c.name)
		require.NoError(t, vm.Close())
	}
}

// A chunk with a cache gives the outputs of the whole sequence.
func TestCachedSparseAttention(t *testing.T) {
	const T, H, K = 150, 4, 2
	r := rand.New(rand.NewPCG(33, 34))
	in := inputs(normal(r, 2, T, H*3), normal(r, 2, T, K*3), normal(r, 2, T, K*5))
	config := graph.AttentionConfig{Heads: H, KVHeads: K, Sparse: &graph.BlockSparse{BlockSize: 16, Blocks: 3}}
	whole := express(t, func(in G.Nodes) (*G.Node, error) {
		return fusedAttention(in[0], in[1], in[2], config)
	}, in, tensor.Float64).onOurs(t).out
	cache, err := graph.NewKVCache(tensor.Float64, graph.KVCacheConfig{Batch: 2, KeyWidth: K * 3, ValueWidth: K * 5,
		Capacity: T, Room: 7})
	require.NoError(t, err)
	attend := func(from, to int, factor float64) array {
		g := G.NewGraph()
		var nodes G.Nodes
		for j, x := range in {
			rows := mapped(tokenRows(x.array, from, to), func(v float64) float64 { return factor * v })
			nodes = append(nodes, node(g, string(rune('a'+j)), rows, tensor.Float64))
		}
		start := G.NewScalar(g, tensor.Int, G.WithName("start"), G.WithValue(from))
		out, err := cachedAttention(nodes[0], nodes[1], nodes[2], start, cache, config)
		require.NoError(t, err)
		m, err := machine.New(out)
		require.NoError(t, err)
		defer m.Close()
		require.NoError(t, m.RunAll())
		return arrayOf(t, out.Value())
	}
	attend(0, 90, -2) // other tokens, which the following ones overwrite
	for from, i := 0, 0; from < T; i++ {
		to := min(from+[]int{40, 1, 5, 1, 64, 17}[i%6], T)
		near(t, "chunk", tokenRows(whole, from, to), attend(from, to, 1), 1e-12)
		from = to
	}
}

func TestSparseAttentionErrors(t *testing.T) {
	b := bench{G.NewGraph()}
	q := b.f(5, 6)
	sparse := &graph.BlockSparse{BlockSize: 2, Blocks: 2}
	for _, c := range []struct {
		k      *G.Node
		config graph.AttentionConfig
		want   string
	}{
		{k: q, config: graph.AttentionConfig{Sparse: &graph.BlockSparse{Blocks: 2}},
			want: "graph: BlockSparse: BlockSize: got 0, want at least 1"},
		{k: q, config: graph.AttentionConfig{Sparse: &graph.BlockSparse{BlockSize: 2}},
			want: "graph: BlockSparse: Blocks: got 0, want at least 1"},
		{k: b.f(7, 6), config: graph.AttentionConfig{Sparse: sparse},
			want: "graph: FusedAttention: sparse: got T=5 queries and S=7 keys, want as many of both"},
		{k: q, config: graph.AttentionConfig{Sparse: sparse, ExtraKeys: 1},
			want: "graph: FusedAttention: extra keys: got 1, want none of sparse attention"},
	} {
		_, err := fusedAttention(q, c.k, c.k, c.config)
		require.EqualError(t, err, c.want)
	}
	rolling := graph.KVCacheConfig{KeyWidth: 6, ValueWidth: 6, Capacity: 8, Rolling: true}
	cache, err := graph.NewKVCache(tensor.Float64, rolling)
	require.NoError(t, err)
	start := G.NewScalar(q.Graph(), tensor.Int, G.WithName("start"), G.WithValue(0))
	_, err = cachedAttention(q, q, q, start, cache, graph.AttentionConfig{Sparse: sparse})
	require.EqualError(t, err, "graph: FusedAttention: sparse: got a rolling cache, want one that keeps all tokens")
}

// Callers may choose any blocks: different ones for each query of each head, none, or one block twice. A number that no
// block has is an error of the run.
func TestAttentionToBlocksOfKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 36))
	numbers := zeros(2, 2, 5, 3)
	for i := range numbers.v {
		numbers.v[i] = float64(r.IntN(10) - 1)
	}
	copy(numbers.v, []float64{-1, -1, -1, 4, 4, 8})
	in := append(inputs(normal(r, 2, 5, 6), normal(r, 2, 70, 6), normal(r, 2, 70, 10)), ids(numbers.v, numbers.shape...))
	dout := normal(r, 2, 5, 10)
	form := func(attend func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error)) expression {
		e := express(t, func(in G.Nodes) (*G.Node, error) {
			return attend(in[0], in[1], in[2], graph.AttentionConfig{Heads: 2, Mask: mask.Blocks{Size: 8, Chosen: in[3]}})
		}, in, tensor.Float64)
		e.differentiate(t, in, dout, tensor.Float64)
		return e
	}
	want := form(func(q, k, v *G.Node, c graph.AttentionConfig) (*G.Node, error) {
		return context(graph.Attention(q, k, v, c))
	}).onOurs(t)
	fused := form(fusedAttention)
	nearResult(t, "blocks", want, fused.onOurs(t), 1e-12)
	require.Equal(t, make([]float64, 5), want.out.v[:5], "of a query that sees no block")

	m, err := machine.New(fused.out)
	require.NoError(t, err)
	defer m.Close()
	fused.in[3].Value().Data().([]int64)[7] = 9
	require.ErrorContains(t, m.RunAll(), "blocks: got block 9, want at most 8, the last one of S=70")
}

// The memory of a run with gradients grows linearly with the length: with sparse blocks, with log-gates, and with
// sigmoids. No tensor is (T, S).
func TestFormsMemory(t *testing.T) {
	for name, form := range map[string]func(c *graph.AttentionConfig, gates *G.Node){
		"sparse": func(c *graph.AttentionConfig, _ *G.Node) {
			c.Sparse = &graph.BlockSparse{BlockSize: 64, Blocks: 4}
		},
		"forgetting": func(c *graph.AttentionConfig, gates *G.Node) { c.LogGates = gates },
		"sigmoid":    func(c *graph.AttentionConfig, _ *G.Node) { c.Sigmoid = true },
	} {
		planned := func(T int) float64 {
			in := inputs(zeros(1, T, 8), zeros(1, T, 2))
			in[1].fixed = name != "forgetting"
			e := express(t, func(in G.Nodes) (*G.Node, error) {
				c := graph.AttentionConfig{Heads: 2, Mask: mask.Causal{}}
				form(&c, in[1])
				return fusedAttention(in[0], in[0], in[0], c)
			}, in, tensor.Float32)
			e.differentiate(t, in, zeros(1, T, 8), tensor.Float32)
			m, err := machine.New(append(e.grads, e.out)...)
			require.NoError(t, err)
			defer m.Close()
			return float64(m.Memory().Planned)
		}
		require.InEpsilon(t, 8*planned(1024), planned(8192), 0.01, name)
	}
}
