package layers_test

import (
	"fmt"
	"math"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// statsOf returns the nodes that sumsUp looks at, in its order.
func statsOf(t testing.TB, c *layers.AttentionCall) G.Nodes {
	t.Helper()
	weights := must(c.Weights())
	s := must(c.Stats())
	return G.Nodes{weights, s.Entropy, s.First, s.Own, s.Previous, s.Sink}
}

// sumsUp checks the statistics of one call by its weights (…, H, T, S) without dropout, of
// queries that stand at their own keys.
func sumsUp(t testing.TB, shape tensor.Shape, got [][]float64, extra int) {
	t.Helper()
	T, S := shape[len(shape)-2], shape[len(shape)-1]
	for row := range got[1] {
		w := got[0][row*S:][:S]
		entropy, sum := 0., 0.
		for _, x := range w {
			if x > 0 {
				entropy -= x * math.Log(x)
			}
			sum += x
		}
		at := func(s int) float64 {
			if s < 0 || s >= S-extra {
				return 0
			}
			return w[s]
		}
		require.InDelta(t, entropy, got[1][row], 1e-12)
		require.InDelta(t, w[0], got[2][row], 1e-12)
		require.InDelta(t, at(row%T), got[3][row], 1e-12)
		require.InDelta(t, at(row%T-1), got[4][row], 1e-12)
		if sum > 0 || got[5][row] > 0 { // it sees a key
			require.InDelta(t, 1, sum+got[5][row], 1e-12)
		}
	}
}

// Statistics are those of the weights before dropout: those of a Train graph are those of an
// Eval graph, and its output drops what it drops without them.
func TestStatsKnowNoDropout(t *testing.T) {
	for _, layout := range []layers.Layout{layers.GPT2, layers.PerHead} {
		p, l := newAttention(t, tensor.Float64, layers.AttentionConfig{EmbedDim: 5, NumHeads: 3, HeadDim: 4,
			Layout: layout, Mask: mask.Causal{}, Dropout: 0.5})
		run := func(mode layers.Mode, observed bool) [][]float64 {
			b := layers.NewBuild(p, mode)
			if observed {
				b.Observe("*")
			}
			out := b.Of(l.Forward(b, input(t, b, "x", golden.Numbers(tensor.Float64, 2, 7, 5))))
			if mode == layers.Train {
				require.NoError(t, G.Let(b.DropoutKey(), G.NewI64(3)))
			}
			s, err := b.Calls("*")[0].Stats()
			require.NoError(t, err)
			return values(t, out, s.LogSumExp, s.Entropy, s.Own)
		}
		eval, train, plain := run(layers.Eval, true), run(layers.Train, true), run(layers.Train, false)
		require.Equal(t, eval[1:], train[1:])
		require.NotEqual(t, eval[0], train[0])
		require.Equal(t, plain, train)
	}
}

// The blocks of a model are observed by their paths, and give its outputs the same bits.
func TestStatsOfAGPT(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	m := must(layers.NewGPT(p.Scope(""), layers.GPTConfig{VocabSize: 11, ContextLength: 7, EmbedDim: 6, NumLayers: 3,
		NumHeads: 2, Bias: true}))
	run := func(paths ...string) [][]float64 {
		b := layers.NewBuild(p, layers.Eval)
		b.Observe(paths...)
		ids := input(t, b, "ids", tensor.New(tensor.WithShape(1, 7), tensor.WithBacking([]int{3, 1, 4, 1, 5, 9, 2})))
		nodes := G.Nodes{b.Of(m.Forward(b, ids))}
		for i, c := range b.Calls("transformer.h.*.attn") {
			require.Equal(t, fmt.Sprintf("transformer.h.%d.attn", i), c.Path)
			nodes = append(nodes, statsOf(t, c)...)
		}
		require.Len(t, nodes, 1+3*6)
		got := values(t, nodes...)
		for i := range 3 {
			sumsUp(t, tensor.Shape{1, 2, 7, 7}, got[1+6*i:][:6], 0)
		}
		return got
	}
	all, one := run("transformer.h.*.attn"), run("*.1.attn")
	require.Equal(t, all, one)
}

// Cross-attention of a decoder: queries and keys are two sequences, and padding is not seen.
func TestStatsOfTheMemory(t *testing.T) {
	c := tinySeq2Seq()
	c.Dropout = 0.5
	m, p := newSeq2Seq(t, c)
	b := layers.NewBuild(p, layers.Train)
	b.Observe("*")
	lengths := input(t, b, "lengths", intVector(5, 3))
	memory := b.Of(m.Encode(b, input(t, b, "source", sequences(2, 5)), lengths))
	ids := tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]int{7, 1, 0, 10, 4, 2}))
	b.Of(m.Decode(b, input(t, b, "target", ids), memory, lengths))
	require.NoError(t, b.Err())
	require.NoError(t, G.Let(b.DropoutKey(), G.NewI64(3)))
	require.NotEmpty(t, b.Calls("*.multihead_attn"))
	for _, call := range b.Calls("*") {
		s := must(call.Stats())
		o := must(call.Operands())
		_, weights, err := graph.Attention(o.Query, o.Key, o.Value, o.Config)
		require.NoError(t, err)
		sumsUp(t, weights.Shape(), values(t, weights, s.Entropy, s.First, s.Own, s.Previous, s.Sink), 0)
	}
}

// The own position is where Align or the mask puts a query among more keys.
func TestOwnKeyOfFewerQueries(t *testing.T) {
	for name, row := range map[string]struct {
		config layers.AttentionConfig
		in     mask.Mask
		offset int
	}{
		"align": {config: but(plainAttention, func(c *layers.AttentionConfig) {
			c.Align, c.Mask = mask.LowerRight, mask.Causal{Align: mask.LowerRight}
		}), offset: 4},
		"causal":      {config: plainAttention, in: mask.Causal{Align: mask.LowerRight}, offset: 4},
		"window":      {config: plainAttention, in: mask.SlidingWindow{Left: 2, Align: mask.LowerRight}, offset: 4},
		"upper left":  {config: plainAttention, in: mask.Causal{Align: mask.UpperLeft}},
		"two texts":   {config: plainAttention},
		"not aligned": {config: plainAttention, in: mask.Prefix{N: 5}},
	} {
		p, l := newAttention(t, tensor.Float64, row.config)
		b := layers.NewBuild(p, layers.Eval)
		b.Observe("*")
		in := inputs(t, b, []int{2, 3, 5}, []int{2, 7, 5}, nil)
		in.Mask = row.in
		b.Of(l.Attend(b, in))
		require.NoError(t, b.Err(), name)
		call := b.Calls("*")[0]
		got := values(t, b.Of(call.Weights()), must(call.Stats()).Own)
		for i, own := range got[1] {
			require.InDelta(t, got[0][i*7+i%3+row.offset], own, 1e-12, "%s, row %d", name, i)
		}
	}
}

func TestStatsRefuse(t *testing.T) {
	causal := but(plainAttention, func(c *layers.AttentionConfig) { c.Mask = mask.Causal{} })
	p, l := newAttention(t, tensor.Float64, causal)
	b := layers.NewBuild(p, layers.Eval)
	b.Observe("*")
	cache := must(l.NewCache(graph.KVCacheConfig{Batch: 1, Capacity: 9}))
	start := b.InputOf(tensor.Int, "start")
	b.Of(l.Attend(b, layers.AttentionInput{Query: b.Input("x", 1, 2, 5), Cache: cache, Start: start}))
	require.NoError(t, b.Err())
	_, err := b.Calls("*")[0].Stats()
	require.EqualError(t, err, "layers: Attention: stats: got a cache, want none: it never holds them")
}
