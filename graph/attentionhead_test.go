package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"
	"attention/internal/golden"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// The statistics of one head alone equal its statistics among all heads; the largest scores are equal to the bit. One
// machine computes all heads in turn.
func TestAttentionStatsOfOneHead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newDrawing(rt)
		a := drawAttention(rt)
		if a.c.Heads == 0 {
			rt.Skip("the heads do not lie side by side")
		}
		w := watching{offset: d.int("offset", -2, 3), height: d.int("height", 1, 9), width: d.int("width", 1, 9)}
		a.checkHeads(t, w)
	})
}

func (a drawnAttention) checkHeads(t testing.TB, w watching) {
	t.Helper()
	e, c := a.arguments(t)
	number := G.NewScalar(e.g, tensor.Int, G.WithName("head"))
	_, stats, err := fusedAttentionStats(e.in[0], e.in[1], e.in[2], c, w.offset)
	require.NoError(t, err)
	one, err := fusedAttentionHeadStats(e.in[0], e.in[1], number, c, w.offset)
	require.NoError(t, err)
	all, nodes := w.nodes(t, stats), w.nodes(t, one)
	m, err := machine.New(append(all, nodes...)...)
	require.NoError(t, err)
	defer m.Close()
	for head := range a.c.Heads {
		require.NoError(t, G.Let(number, head))
		require.NoError(t, m.RunAll())
		for i, n := range nodes {
			want, got := arrayOf(t, all[i].Value()), arrayOf(t, n.Value())
			want = want.ofHead(len(a.z.batch), head)
			if statisticNames[i] == "max score" || statisticNames[i] == "max product" {
				require.Equal(t, bits(want), bits(got), "%s of head %d", statisticNames[i], head)
			}
			golden.Close(t, fmt.Sprintf("%s of head %d", statisticNames[i], head), want.v, got.v, a.tol, a.tol)
		}
	}
}

// ofHead returns one index of an axis of a tensor.
func (a array) ofHead(axis, head int) (part array) {
	inner := 1
	for _, n := range a.shape[axis+1:] {
		inner *= n
	}
	for from := head * inner; from < len(a.v); from += a.shape[axis] * inner {
		part.v = append(part.v, a.v[from:from+inner]...)
	}
	return part
}

// In float32 the log-sum-exp of a head has an error of 1e-6 at most over many keys, and so have the weights computed
// from it.
func TestAttentionStatsOfOneHeadAreExact(t *testing.T) {
	const T, D = 3001, 2
	x := normal(rand.New(rand.NewPCG(1, 2)), T, D)
	for i, v := range x.v {
		x.v[i] = float64(float32(v))
	}
	g := G.NewGraph()
	in, head := node(g, "x", x, tensor.Float32), G.NewScalar(g, tensor.Int, G.WithName("head"), G.WithValue(0))
	s, err := fusedAttentionHeadStats(in, in, head, graph.AttentionConfig{Heads: 1, Scale: 0.25}, 0)
	require.NoError(t, err)
	m, err := machine.New(s.LogSumExp)
	require.NoError(t, err)
	defer m.Close()
	require.NoError(t, m.RunAll())
	got := arrayOf(t, s.LogSumExp.Value())
	for q, lse := range got.v {
		sum := 0.
		for k := range T {
			sum += math.Exp((x.at(q, 0)*x.at(k, 0) + x.at(q, 1)*x.at(k, 1)) / 4)
		}
		require.InDelta(t, math.Log(sum), lse, 1e-6, "query %d", q)
	}
}

func TestAttentionStatsOfOneHeadRefuse(t *testing.T) {
	g := G.NewGraph()
	x, number := node(g, "x", zeros(2, 3, 4), tensor.Float64), G.NewScalar(g, tensor.Int, G.WithName("head"))
	c := graph.AttentionConfig{Heads: 2, Mask: mask.Causal{}}
	_, err := fusedAttentionHeadStats(x, x, number, graph.AttentionConfig{}, 0)
	require.EqualError(t, err, "graph: FusedAttention: heads: got 0, want at least 1")
	_, err = fusedAttentionHeadStats(x, x, x, c, 0)
	require.ErrorContains(t, err, "FusedAttention: head: got float64")
	_, err = fusedAttentionHeadStats(x, x, node(g, "heads", zeros(2), tensor.Int), c, 0)
	require.EqualError(t, err, "graph: FusedAttention: head: shape (2), want ()")
	_, err = fusedAttentionHeadStats(x, x, number, c, math.MinInt)
	require.ErrorContains(t, err, "FusedAttention: offset: got")
	s, err := fusedAttentionHeadStats(x, x, number, c, 0)
	require.NoError(t, err)
	m, err := machine.New(s.Entropy)
	require.NoError(t, err)
	defer m.Close()
	for head, want := range map[int]string{-1: "got -1, ", 2: "got 2, "} {
		require.NoError(t, G.Let(number, head))
		require.ErrorContains(t, m.RunAll(), "graph: FusedAttention: head: "+want+"want from 0 to H−1=1")
	}
}
