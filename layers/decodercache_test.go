package layers_test

import (
	"fmt"
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// gptChunks runs a model on chunks of tokens, with one graph for each kind of chunk.
type gptChunks struct {
	t        *testing.T
	params   *layers.Params
	model    *layers.Decoder
	cache    layers.DecoderCache
	compiled map[string]*gptChunk
}

type gptChunk struct {
	ids, start, logits *G.Node
	machine            *machine.Machine
}

func newGPTChunks(t *testing.T, p *layers.Params, m *layers.Decoder, size graph.KVCacheConfig) *gptChunks {
	t.Helper()
	return &gptChunks{t, p, m, must(m.NewCache(size)), map[string]*gptChunk{}}
}

// run appends ids (B, T) or (T) to the tokens seen and returns the logits after the last of them, or after each.
func (g *gptChunks) run(ids *tensor.Dense, each bool) ([]float64, error) {
	c := g.chunk(ids.Shape(), each)
	require.NoError(g.t, G.Let(c.ids, ids))
	require.NoError(g.t, G.Let(c.start, g.cache.Len()))
	if err := c.machine.RunAll(); err != nil {
		return nil, err
	}
	return golden.Floats(g.t, c.logits.Value()), nil
}

func (g *gptChunks) chunk(shape tensor.Shape, each bool) *gptChunk {
	name := fmt.Sprint(shape, each)
	if c, ok := g.compiled[name]; ok {
		return c
	}
	b, c := layers.NewBuild(g.params, layers.Eval), new(gptChunk)
	var err error
	c.ids, err = b.InputOf(tensor.Int, "ids", shape...), b.Err()
	require.NoError(g.t, err)
	c.start, err = b.InputOf(tensor.Int, "start"), b.Err()
	require.NoError(g.t, err)
	if each {
		c.logits, err = g.model.ForwardCachedAll(b, c.ids, c.start, g.cache)
	} else {
		c.logits, err = g.model.ForwardCached(b, c.ids, c.start, g.cache)
	}
	require.NoError(g.t, err)
	c.machine = must(machine.New(c.logits))
	g.compiled[name] = c
	return c
}

// sequences returns ids (B, T), or (T) if batch is 0.
func sequences(batch, T int) *tensor.Dense {
	shape := []int{batch, T}
	if batch == 0 {
		shape = []int{T}
	}
	ids := make([]int, max(batch, 1)*T)
	for i := range ids {
		ids[i] = (i*i*7 + i*3 + 5) % 13
	}
	return of(ids, shape...)
}

// columns returns the columns from, …, to−1 of each row of x, which has width numbers.
func columns[E any](x []E, width, from, to int) (part []E) {
	for ; len(x) > 0; x = x[width:] {
		part = append(part, x[from:to]...)
	}
	return part
}

// chunkOf is the tokens from, …, to−1 of each sequence.
func chunkOf(ids *tensor.Dense, from, to int) *tensor.Dense {
	shape := ids.Shape().Clone()
	n := len(shape) - 1
	T := shape[n]
	shape[n] = to - from
	return of(columns(ids.Data().([]int), T, from, to), shape...)
}

// In chunks and token by token, a model with a cache gives the logits of the whole sequence, up to the last token of
// its context.
func TestDecoderCacheEqualsTheWholeSequence(t *testing.T) {
	const n, V = 11, 13
	plain := tinyGPT()
	plain.TieWordEmbeddings, plain.Bias, plain.NumKVHeads = false, false, 1
	cases := map[string]layers.DecoderConfig{"gpt": tinyGPT().Decoder(), "gpt, plain": plain.Decoder(),
		"latent": latentDecoder(), "delta": deltaDecoder(t)}
	for name, change := range decoderCases {
		c := tinyDecoder()
		change(&c)
		cases[name] = c
	}
	for name, c := range cases {
		tol := map[tensor.Dtype]float64{tensor.Float64: 1e-12, tensor.Float32: 1e-5}
		if strings.HasPrefix(name, "gpt") && name != "gpt2" {
			tol[tensor.Float32] = 1e-6
		}
		for _, batch := range []int{0, 1, 3} {
			for dt, tol := range tol {
				m, params := newDecoder(t, dt, c)
				ids := sequences(batch, n)
				b := layers.NewBuild(params, layers.Eval)
				whole := values(t, must(m.Forward(b, input(t, b, "ids", ids))))[0]
				g := newGPTChunks(t, params, m, graph.KVCacheConfig{Batch: batch})
				for round := range 2 { // the second time with a cache that has been used
					from := 0
					for i, to := range []int{4, 5, 6, 9, 10, 11} {
						each, first := round == 1 || i%2 == 1, from
						if !each {
							first = to - 1
						}
						got := must(g.run(chunkOf(ids, from, to), each))
						require.InDeltaSlice(t, columns(whole, n*V, first*V, to*V), got, tol, "%s: tokens %d to %d", name, first, to-1)
						require.Equal(t, to, g.cache.Len())
						from = to
					}
					want := "KVCache: got tokens 11 to 11, want at most Capacity=11"
					if c.LearnedPositions {
						want = "PositionRows: start: got 11 for T=1 rows, want 0 <= start <= R−T=10"
					}
					require.ErrorContains(t, failed(g.run(chunkOf(ids, 0, 1), false)), want, name)
					require.True(t, g.cache.Len() == n || name == "delta", "%s: states cannot go back", name)
					g.cache.Reset()
					require.Zero(t, g.cache.Len())
				}
			}
		}
	}
}

// After Truncate of every block, other tokens may follow, as if the removed tokens had never been read.
func TestGPTCacheTruncate(t *testing.T) {
	m, p := newGPT(t, tensor.Float64, tinyGPT())
	ids := sequences(0, 11)
	straight := newGPTChunks(t, p, m, graph.KVCacheConfig{})
	must(straight.run(chunkOf(ids, 0, 5), false))
	want := must(straight.run(chunkOf(ids, 7, 9), false))

	g := newGPTChunks(t, p, m, graph.KVCacheConfig{})
	must(g.run(chunkOf(ids, 0, 9), false))
	for _, layer := range g.cache {
		require.NoError(t, layer.Truncate(5))
	}
	require.InDeltaSlice(t, want, must(g.run(chunkOf(ids, 7, 9), false)), 1e-14)
	require.ErrorContains(t, g.cache[1].Truncate(8), "KVCache: length: got 8, want 0 to 7")
}

// A cache needs two rows per block and token, and no more.
func TestGPTCacheBytes(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		c := tinyGPT()
		c.NumKVHeads = 1
		m, _ := newGPT(t, dt, c)
		cache := must(m.NewCache(graph.KVCacheConfig{Batch: 2}))
		require.Len(t, cache, 2)
		for _, layer := range cache {
			require.Equal(t, 2*11*2*4*int(dt.Size()), layer.Bytes(), "batch · context · (keys + values) · width")
		}
	}
}

func TestGPTCacheRefuses(t *testing.T) {
	m, p := newGPT(t, tensor.Float32, tinyGPT())
	cache := must(m.NewCache(graph.KVCacheConfig{}))
	other := must(m.NewCache(graph.KVCacheConfig{Batch: 2}))
	c := tinyGPT()
	c.NumLayers = 1
	small, _ := newGPT(t, tensor.Float32, c)
	short := must(small.NewCache(graph.KVCacheConfig{}))
	_, err := m.NewCache(graph.KVCacheConfig{Capacity: -1})
	require.ErrorContains(t, err, "KVCache: Capacity: got -1, want at least 1")

	b := layers.NewBuild(p, layers.Eval)
	ids, start := input(t, b, "ids", sequences(0, 3)), G.NewScalar(b.Graph(), tensor.Int, G.WithName("start"))
	vector := input(t, b, "vector", sequences(0, 1))
	long := input(t, b, "long", sequences(0, 12))
	for _, in := range []struct {
		wantErr    string
		ids, start *G.Node
		cache      layers.DecoderCache
	}{
		{wantErr: "layers: GPT: ids: got nil, want a node", start: start, cache: cache},
		{wantErr: "layers: GPT: ids: shape (12), want ([B,] T <= ContextLength=11)", ids: long, start: start, cache: cache},
		{wantErr: "PositionRows: start: got nil, want a node", ids: ids, cache: cache},
		{wantErr: "PositionRows: start: shape (1), want () or (…, 1)", ids: ids, start: vector, cache: cache},
		{wantErr: "layers: GPT: cache: got nil, want one of NewCache", ids: ids, start: start},
		{wantErr: "layers: GPT: cache: got one of 1 blocks, want 2", ids: ids, start: start, cache: short},
		{wantErr: "cache: got one for 2 sequences of float32, keys 12 and val", ids: ids, start: start, cache: other},
	} {
		_, err := m.ForwardCached(b, in.ids, in.start, in.cache)
		require.ErrorContains(t, err, in.wantErr)
		_, err = m.ForwardCachedAll(b, in.ids, in.start, in.cache)
		require.ErrorContains(t, err, in.wantErr)
	}
}
