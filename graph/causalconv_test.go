package graph_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"attention/graph"
	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func itoa(n int) string { return strconv.Itoa(n) }

func causalConvCases() []opCase {
	conv := func(in G.Nodes) (*G.Node, error) {
		in = append(in, nil, nil)
		return graph.CausalConv(in[0], in[1], in[2], in[3])
	}
	return []opCase{
		{name: "causal_conv", op: conv, in: shapes(s{2, 7, 5}, s{5, 1, 4})},
		{name: "causal_conv_bias", op: conv, in: shapes(s{2, 7, 5}, s{5, 1, 4}, s{5})},
		{name: "causal_conv_state", op: conv, in: shapes(s{2, 2, 5}, s{5, 1, 4}, s{5}, s{2, 3, 5})},
		{name: "causal_conv_single", op: conv, in: shapes(s{7, 5}, s{5, 3})},
		{name: "decay_gate", op: decayGate, in: shapes(s{2, 7, 5}, s{5}, s{5})},
		{name: "decay_gate_far", op: decayGate, in: shapes(s{7, 1}, s{1}, s{1})},
		{name: "elu_plus_one", op: unary(graph.ELUPlusOne), in: shapes(s{3, 5})},
	}
}

func decayGate(in G.Nodes) (*G.Node, error) { return graph.DecayGate(in[0], in[1], in[2]) }

// TestCachedCausalConv: chunks of any lengths, even shorter than the filter, give the outputs of the whole sequence.
func TestCachedCausalConv(t *testing.T) {
	const B, T, C, N = 2, 13, 5, 4
	r := rand.New(rand.NewPCG(15, 16))
	x, weight, bias := normal(r, B, T, C), normal(r, C, 1, N), normal(r, C)
	conv := func(in G.Nodes) (*G.Node, error) { return graph.CausalConv(in[0], in[1], in[2], nil) }
	whole := express(t, conv, inputs(x, weight, bias), tensor.Float64).onOurs(t).out
	cache, err := graph.NewStateCache(tensor.Float64, B, N-1, C)
	require.NoError(t, err)
	for range 2 {
		from := 0
		for _, n := range []int{1, 1, 2, 5, 1, 3} {
			g := G.NewGraph()
			start := G.NewScalar(g, tensor.Int, G.WithName("start"), G.WithValue(from))
			out, err := graph.CachedCausalConv(node(g, "x", tokenRows(x, from, from+n), tensor.Float64),
				node(g, "w", weight, tensor.Float64), node(g, "b", bias, tensor.Float64), start, nil, cache)
			require.NoError(t, err)
			m, err := machine.New(out)
			require.NoError(t, err)
			require.NoError(t, m.RunAll())
			near(t, "out", tokenRows(whole, from, from+n), arrayOf(t, out.Value()), 1e-12)
			require.ErrorContains(t, m.RunAll(), "graph: CachedCausalConv: start: got "+itoa(from)+", want "+itoa(from+n)+
				", the number of tokens seen")
			require.NoError(t, m.Close())
			from += n
		}
		cache.Reset()
	}
	_, err = graph.NewStateCache(tensor.Float64, 2, 0)
	require.ErrorContains(t, err, "graph: StateCache: shape: got (2, 0), want axes of at least 1")
	_, err = graph.NewStateCache(tensor.Int, 2)
	require.EqualError(t, err, "graph: StateCache: dtype: got int, want float32 or float64")
}

// TestCachedConvOfLengths: with lengths each sequence advances by its own number of tokens, and starts again at
// position 0.
func TestCachedConvOfLengths(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x, weight := normal(r, 2, 9, 3), normal(r, 3, 4)
	whole := express(t, func(in G.Nodes) (*G.Node, error) { return graph.CausalConv(in[0], in[1], nil, nil) },
		inputs(x, weight), tensor.Float64).onOurs(t).out
	cache, err := graph.NewStateCache(tensor.Float64, 2, 3, 3)
	require.NoError(t, err)
	for _, row := range []struct{ starts, lengths []float64 }{
		{[]float64{0, 0}, []float64{4, 2}}, {[]float64{4, 2}, []float64{0, 3}}, {[]float64{4, 0}, []float64{3, 4}},
		{[]float64{7, 4}, []float64{2, 4}},
	} {
		g := G.NewGraph()
		chunk := zeros(2, 4, 3)
		for b, start := range row.starts {
			for i := range int(row.lengths[b]) * 3 {
				chunk.v[b*12+i] = x.v[b*27+int(start)*3+i]
			}
		}
		out, err := graph.CachedCausalConv(node(g, "x", chunk, tensor.Float64), node(g, "w", weight, tensor.Float64), nil,
			node(g, "start", of(row.starts, 2, 1), tensor.Int), node(g, "lengths", of(row.lengths, 2), tensor.Int), cache)
		require.NoError(t, err)
		got := run(t, out)
		for b, start := range row.starts {
			for i := range int(row.lengths[b]) * 3 {
				require.InDelta(t, whole.v[b*27+int(start)*3+i], got.v[b*12+i], 1e-12, "%+v", row)
			}
		}
	}
	require.Equal(t, 8, cache.Len())
	require.ErrorContains(t, cache.Truncate(8), "graph: StateCache: length: got 8, want 0 or 9")
}

func TestStateCachesRefuse(t *testing.T) {
	g := G.NewGraph()
	x := G.NewTensor(g, tensor.Float64, 3, G.WithShape(2, 3, 5), G.WithName("x"))
	w := G.NewMatrix(g, tensor.Float64, G.WithShape(5, 4), G.WithName("w"))
	start := G.NewScalar(g, tensor.Int, G.WithName("start"))
	cached := func(dt tensor.Dtype, shape ...int) error {
		cache, err := graph.NewStateCache(dt, shape...)
		require.NoError(t, err)
		_, err = graph.CachedCausalConv(x, w, nil, start, nil, cache)
		return err
	}
	require.EqualError(t, cached(tensor.Float64, 1, 3, 5),
		"graph: CachedCausalConv: cache: shape (1, 3, 5), want (2, 3, 5)")
	require.EqualError(t, cached(tensor.Float32, 2, 3, 5),
		"graph: CachedCausalConv: cache: got float32, want float64, as the other arguments")
	_, err := graph.CachedCausalConv(x, w, nil, start, nil, nil)
	require.EqualError(t, err,
		"graph: CachedCausalConv: cache: got nil or its zero value, want a cache of NewStateCache")
	cache, err := graph.NewStateCache(tensor.Float64, 2, 3, 5)
	require.NoError(t, err)
	y, err := graph.CachedCausalConv(x, w, nil, start, nil, cache)
	require.NoError(t, err)
	_, err = graph.CachedCausalConv(y, w, nil, start, nil, cache)
	require.EqualError(t, err,
		"graph: CachedCausalConv: cache: got one that another op of this graph fills, want one for each")
	_, err = G.Grad(G.Must(G.Sum(y)), x)
	require.ErrorContains(t, err, "graph: CachedCausalConv: has no gradient: train on a graph without a cache")
}
