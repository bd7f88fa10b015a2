package layers_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"
	"attention/internal/dense"
	"attention/layers"
	"attention/layers/gradcases"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// generator runs one layer on chunks of tokens, with one graph for each length of a chunk.
type generator struct {
	t        *testing.T
	params   *layers.Params
	layer    *layers.Attention
	cache    *graph.KVCache
	width    int // E
	compiled map[int]*compiledChunk
}

type compiledChunk struct {
	x, start, out *G.Node
	machine       *machine.Machine
}

func (g *generator) chunk(T int) *compiledChunk {
	if c, ok := g.compiled[T]; ok {
		return c
	}
	b := layers.NewBuild(g.params, layers.Eval)
	x, err := b.InputOf(g.params.Dtype(), "x", 2, T, g.width), b.Err()
	require.NoError(g.t, err)
	start, err := b.InputOf(tensor.Int, "start"), b.Err()
	require.NoError(g.t, err)
	out := must(g.layer.Attend(b, layers.AttentionInput{Query: x, Cache: g.cache, Start: start}))
	g.compiled[T] = &compiledChunk{x, start, out, must(machine.New(out))}
	return g.compiled[T]
}

// A layer with a cache gives the same outputs in chunks, token by token and for the whole sequence at once.
func TestCacheEqualsTheWholeSequence(t *testing.T) {
	const n = 23
	sizes := map[string]graph.KVCacheConfig{
		"full":           {Batch: 2, Capacity: n},
		"rolling":        {Batch: 2, Capacity: 8, Rolling: true},
		"rolling, sinks": {Batch: 2, Capacity: 8, Rolling: true, KeepFirst: 3},
		"rolling, short": {Batch: 2, Capacity: 2, Rolling: true, KeepFirst: 1},
		"room left over": {Batch: 2, Capacity: n + 5},
		"growing":        {Batch: 2, Capacity: n, Room: 1},
		"growing, roll":  {Batch: 2, Capacity: 8, Room: 3, Rolling: true, KeepFirst: 3},
	}
	eachAttention(t, func(t *testing.T, a gradcases.Attention) {
		c := a.Config
		for name, size := range sizes {
			for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
				if !a.OfX() || c.ALiBi && size.KeepFirst > 0 || c.Sparse != nil && size.Rolling {
					continue
				}
				t.Run(name+"/"+dt.String(), func(t *testing.T) {
					if a.Cache == "" {
						testCache(t, c, size, dt, n)
						return
					}
					p, l := newAttention(t, dt, c)
					b := layers.NewBuild(p, layers.Eval)
					_, err := l.Attend(b, layers.AttentionInput{Query: b.Input("x", 2, 1, c.EmbedDim),
						Cache: must(l.NewCache(size)), Start: b.InputOf(tensor.Int, "start")})
					require.ErrorContains(t, err, a.Cache)
				})
			}
		}
	})
}

func testCache(t *testing.T, c layers.AttentionConfig, size graph.KVCacheConfig, dt tensor.Dtype, n int) {
	p := layers.NewParams(dt, 5)
	layer := must(layers.NewAttention(p.Scope(""), c))
	x := randomDense(rand.New(rand.NewPCG(1, 2)), dt, 2, n, c.EmbedDim)
	b := layers.NewBuild(p, layers.Eval)
	in := layers.AttentionInput{Query: G.NewTensor(b.Graph(), dt, 3, G.WithShape(2, n, c.EmbedDim), G.WithName("x"),
		G.WithValue(x))}
	if size.Rolling {
		in.Mask = mask.Or(mask.SlidingWindow{Left: size.Capacity - size.KeepFirst - 1}, mask.Prefix{N: size.KeepFirst})
	}
	whole := must(layer.Attend(b, in))
	require.NoError(t, must(machine.New(whole)).RunAll())

	g := &generator{t: t, params: p, layer: layer, width: c.EmbedDim, compiled: map[int]*compiledChunk{}}
	g.cache = must(layer.NewCache(size))
	tol := 1e-12
	if dt == tensor.Float32 {
		tol = 1e-6
	}
	tol *= max(1, slices.Max(dense.Float64s(whole.Value())))
	for at := 0; at < n; {
		T := 1
		switch at {
		case 0:
			T = 6 // a prompt
		case 9:
			T = 4
		}
		chunk := g.chunk(T)
		require.NoError(t, G.Let(chunk.x, tokenRows(t, x, at, at+T)))
		require.NoError(t, G.Let(chunk.start, at))
		require.NoError(t, chunk.machine.RunAll())
		require.InDeltaSlice(t, dense.Float64s(tokenRows(t, whole.Value().(*tensor.Dense), at, at+T)),
			dense.Float64s(chunk.out.Value()), tol, "tokens from %d", at)
		at += T
	}
	require.Len(t, g.compiled, 3)
}

// tokenRows are the rows from, …, to−1 of each sequence of x (B, N, E).
func tokenRows(t *testing.T, x *tensor.Dense, from, to int) *tensor.Dense {
	t.Helper()
	d := must(x.Slice(nil, G.S(from, to), nil)).Materialize().(*tensor.Dense)
	s := x.Shape().Clone()
	s[1] = to - from
	require.NoError(t, d.Reshape(s...))
	return d
}

// randomDense are numbers of a normal distribution.
func randomDense(r *rand.Rand, dt tensor.Dtype, shape ...int) *tensor.Dense {
	d := tensor.New(tensor.Of(dt), tensor.WithShape(shape...))
	for i := range d.Shape().TotalSize() {
		if dt == tensor.Float32 {
			d.Float32s()[i] = float32(r.NormFloat64())
		} else {
			d.Float64s()[i] = r.NormFloat64()
		}
	}
	return d
}

// Inputs and options that have no meaning with a cache are errors.
func TestCacheRefusals(t *testing.T) {
	plain := layers.AttentionConfig{EmbedDim: 6, NumHeads: 2, Mask: mask.Causal{}}
	extra, alibi, open := plain, plain, plain
	extra.AddZeroAttn, alibi.ALiBi, open.Mask = true, true, nil
	first := graph.KVCacheConfig{Capacity: 9, Rolling: true, KeepFirst: 2}
	for _, c := range []struct {
		config layers.AttentionConfig
		size   graph.KVCacheConfig
		change func(in *layers.AttentionInput, other *G.Node)
		want   string
	}{
		{plain, first, func(in *layers.AttentionInput, _ *G.Node) { in.Start = nil }, "start: got nil with a cache"},
		{plain, first, func(in *layers.AttentionInput, other *G.Node) { in.Key = other },
			"key: got another sequence than the query"},
		{plain, first, func(in *layers.AttentionInput, _ *G.Node) { in.Cache = nil }, "start: got one without a cache"},
		{open, first, nil, "mask: got none with a cache, want one that hides later keys, as mask.Causal"},
		{extra, first, nil, "cache: got one with AddBiasKV or AddZeroAttn"},
		{alibi, first, nil, "cache: got one that keeps first tokens with ALiBi"},
		{plain, graph.KVCacheConfig{Batch: 3, Capacity: 9}, nil, "cache: got one for 3 sequences"},
		{plain, graph.KVCacheConfig{Capacity: 0}, nil, "KVCache: Capacity: got 0, want at least 1"},
		{plain, graph.KVCacheConfig{Capacity: 4, Room: -1}, nil, "KVCache: Room: got -1, want at least 0"},
		{plain, graph.KVCacheConfig{Capacity: 4, Room: 5}, nil, "KVCache: Room: got 5, want at most Capacity=4"},
		{plain, graph.KVCacheConfig{Capacity: 4, KeepFirst: 1}, nil, "KVCache: KeepFirst: got 1"},
		{plain, graph.KVCacheConfig{Capacity: 4, KeepFirst: 4, Rolling: true}, nil, "KVCache: KeepFirst: got 4"},
		{plain, first, func(in *layers.AttentionInput, other *G.Node) { in.Mask = mask.Keep{Keep: other} },
			"with a number for each key"},
	} {
		p := layers.NewParams(tensor.Float32, 1)
		layer := must(layers.NewAttention(p.Scope(""), c.config))
		b := layers.NewBuild(p, layers.Eval)
		x := b.InputOf(tensor.Float32, "x", 2, 6)
		require.NoError(t, b.Err())
		other := b.InputOf(tensor.Float32, "other", 2, 9)
		require.NoError(t, b.Err())
		if c.want[:3] == "key" {
			other = b.InputOf(tensor.Float32, "memory", 2, 6)
			require.NoError(t, b.Err())
		}
		start := b.InputOf(tensor.Int, "start")
		require.NoError(t, b.Err())
		in := layers.AttentionInput{Query: x, Start: start}
		cache, err := layer.NewCache(c.size)
		if in.Cache = cache; err == nil {
			if c.change != nil {
				c.change(&in, other)
			}
			_, err = layer.Attend(b, in)
		}
		require.ErrorContains(t, err, c.want)
	}
	p := layers.NewParams(tensor.Float32, 1)
	layer := must(layers.NewAttention(p.Scope(""), plain))
	cache := must(layer.NewCache(graph.KVCacheConfig{Capacity: 4}))
	b := layers.NewBuild(p, layers.Eval)
	x := b.InputOf(tensor.Float32, "x", 2, 6)
	require.NoError(t, b.Err())
	_, err := layer.Weights(b, layers.AttentionInput{Query: x, Cache: cache, Start: x})
	require.ErrorContains(t, err, "weights: got a cache, want none")
}

// A cache belongs to one layer.
func TestCacheOfTwoLayersIsRefused(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	c := layers.AttentionConfig{EmbedDim: 6, NumHeads: 2, Mask: mask.Causal{}}
	first := must(layers.NewAttention(p.Scope("0"), c))
	second := must(layers.NewAttention(p.Scope("1"), c))
	cache := must(first.NewCache(graph.KVCacheConfig{Capacity: 4}))
	b := layers.NewBuild(p, layers.Eval)
	x := b.InputOf(tensor.Float32, "x", 2, 6)
	require.NoError(t, b.Err())
	start := b.InputOf(tensor.Int, "start")
	require.NoError(t, b.Err())
	x = must(first.Attend(b, layers.AttentionInput{Query: x, Cache: cache, Start: start}))
	_, err := second.Attend(b, layers.AttentionInput{Query: x, Cache: cache, Start: start})
	require.ErrorContains(t, err, "cache: got one that another op of this graph fills, want one for each")
}
