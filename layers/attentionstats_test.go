package layers_test

import (
	"math"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// statsOf returns the nodes that sumsUp checks, in its order.
func statsOf(t testing.TB, c *layers.AttentionCall) G.Nodes {
	t.Helper()
	weights := must(c.Weights())
	s := must(c.Stats())
	return G.Nodes{weights, s.Entropy, s.First, s.Own, s.Previous, s.Sink}
}

// sumsUp checks the statistics of one call against its weights (…, H, T, S) without dropout, for queries at the
// positions of their own keys.
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
		if sum > 0 || got[5][row] > 0 { // it sees at least one key
			require.InDelta(t, 1, sum+got[5][row], 1e-12)
		}
	}
}

// Cross-attention of a decoder: queries and keys are two sequences, and padding is hidden.
func TestStatsOfTheMemory(t *testing.T) {
	c := tinySeq2Seq()
	c.Dropout = 0.5
	m, p := newSeq2Seq(t, c)
	b := layers.NewBuild(p, layers.Train)
	b.Observe("*")
	lengths := input(t, b, "lengths", intVector(5, 3))
	memory := b.Of(m.Encode(b, input(t, b, "source", sequences(2, 5)), lengths))
	ids := of([]int{7, 1, 0, 10, 4, 2}, 2, 3)
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

// Align or the mask determines which key is a query's own; the keys that the mask's offset adds come before.
func TestOwnKey(t *testing.T) {
	for _, row := range []struct {
		config    string
		in        mask.Mask
		T, S, own int // position of the first query
	}{
		{`{"mask": {"type": "causal", "offset": 3}}`, nil, 4, 7, 3},
		{`{"mask": {"type": "causal", "align": "upper_left", "offset": 2}}`, nil, 4, 7, 2},
		{`{"mask": {"type": "causal", "align": "lower_right", "offset": 1}}`, nil, 4, 7, 3},
		{`{"mask": {"type": "causal", "offset": 1}}`, nil, 4, 4, 0},
		{`{"align": "lower_right", "mask": {"type": "causal", "align": "lower_right"}}`, nil, 3, 7, 4},
		{`{}`, mask.Causal{Align: mask.LowerRight}, 3, 7, 4},
		{`{}`, mask.SlidingWindow{Left: 2, Align: mask.LowerRight}, 3, 7, 4},
		{`{}`, mask.Causal{Align: mask.UpperLeft}, 3, 7, 0},
		{`{}`, nil, 3, 7, 0},
		{`{}`, mask.Prefix{N: 5}, 3, 7, 0},
	} {
		p, l := newAttention(t, tensor.Float64, with(plainAttention, row.config))
		b := layers.NewBuild(p, layers.Eval)
		b.Observe("*")
		in := inputs(t, b, []int{2, row.T, 5}, []int{2, row.S, 5}, nil)
		in.Mask = row.in
		b.Of(l.Attend(b, in))
		require.NoError(t, b.Err())
		call := b.Calls("*")[0]
		got := values(t, b.Of(call.Weights()), must(call.Stats()).Own)
		for i, own := range got[1] {
			require.InDelta(t, got[0][i*row.S+i%row.T+row.own], own, 1e-12, "%+v, row %d", row, i)
		}
	}
}

func TestStatsRefuse(t *testing.T) {
	causal := having(plainAttention, func(c *layers.AttentionConfig) { c.Mask = mask.Causal{} })
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
